//! How fast model requests pass the filter, in MB/s on one core: `cargo bench --bench model_request`.
#![allow(missing_docs, clippy::unwrap_used, clippy::disallowed_methods)]
use std::hint::black_box;

use cloister::model_request::{Filter, Forced};

fn speed(name: &str, body: &str) {
    let mut best = f64::MAX;
    let mut out = Vec::with_capacity(body.len() + 256);
    for _ in 0..10 {
        out.clear();
        let mut filter = Filter::new(&Forced {
            model: "scripted",
            prompt_cache_key: "key",
            service_tier: None,
        });
        let start = std::time::Instant::now();
        for chunk in body.as_bytes().chunks(16 << 10) {
            filter.push(black_box(chunk), &mut out).unwrap();
        }
        filter.finish().unwrap();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name}: {:.0} MB/s", body.len() as f64 / 1e6 / best);
}

fn main() {
    let repeat =
        |item: &str, count: usize| format!(r#"{{"input":[{}]}}"#, vec![item; count].join(","));
    let text = "The quick brown fox jumps over the lazy dog.\\n".repeat(40);
    let message = |text: &str| {
        format!(
            r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#
        )
    };
    speed("long texts", &repeat(&message(&text), 4_000));
    speed("short items", &repeat(&message("ok"), 100_000));
    speed(
        "escapes",
        &repeat(&message(&"\\u00e9\\n\\\"".repeat(200)), 4_000),
    );
    speed(
        "not ASCII",
        &repeat(&message(&"żółć 日本".repeat(200)), 2_000),
    );
    speed(
        "image",
        &repeat(
            &format!(
                r#"{{"type":"function_call_output","call_id":"c","output":[{{"type":"input_image","image_url":"data:image/png;base64,{}"}}]}}"#,
                "A".repeat(1 << 20)
            ),
            8,
        ),
    );
}
