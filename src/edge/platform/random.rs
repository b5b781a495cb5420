use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(buffer: &mut [u8]);
}

/// Bytes from the runtime's cryptographic generator.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    get_random_values(&mut bytes);
    bytes
}
