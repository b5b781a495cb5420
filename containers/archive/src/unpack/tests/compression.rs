//! Frames that are cut, too long, or cost too much.
use std::io::{self, Read};

use super::*;

fn sample() -> Vec<u8> {
    archive(&[
        folder("a"),
        file("a/f", &[7; 1000]),
        link("a/l", "a/f"),
        symlink("s", "t".repeat(200)),
    ])
}

#[test]
fn an_archive_that_is_cut_anywhere_is_refused() {
    let whole = sample();
    assert_eq!(code(&tar(&whole)), "ok");
    let blocks = (0..whole.len()).step_by(512);
    for cut in blocks.flat_map(|block| [block, block + 1, block + 511]) {
        assert_eq!(code(&tar(&whole[..cut])), "truncated", "{cut}");
    }
    let framed = frame(&whole);
    for cut in 0..framed.len() {
        let unpacked = Field::new().unpack(&framed[..cut], &small());
        assert_eq!(code(&unpacked), "truncated", "{cut}");
    }
}

#[test]
fn what_comes_after_the_end_is_refused() {
    let whole = sample();
    for tail in [&[0; 1][..], &[0; 512], &[0; 10_240], b"x", &whole] {
        let long = [&whole, tail].concat();
        assert_eq!(code(&tar(&long)), "after_end");
    }
    let framed = frame(&whole);
    let empty = frame(b"");
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 9];
    for tail in [&b"x"[..], &[0], &framed, &empty, &skippable] {
        let unpacked = Field::new().unpack(&[&framed, tail].concat(), &small());
        assert_eq!(code(&unpacked), "after_frame");
    }
    let mut half_end = whole.clone();
    let last = half_end.len() - 1;
    half_end[last] = 1;
    assert_eq!(code(&tar(&half_end)), "end");
}

#[test]
fn what_is_not_a_frame_is_refused() {
    let framed = frame(&sample());
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 9];
    let before = [&skippable[..], &framed].concat();
    assert_eq!(code(&Field::new().unpack(&before, &small())), "truncated");
    for input in [sample(), vec![0; 1000], b"text that is no frame".to_vec()] {
        assert_eq!(code(&Field::new().unpack(&input, &small())), "compression");
    }
}

#[test]
fn a_window_larger_than_ours_is_refused() {
    let framed = |window: u32| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(window).unwrap();
        io::copy(&mut sample().as_slice(), &mut encoder).unwrap();
        encoder.finish().unwrap()
    };
    let unpack = |window| code(&Field::new().unpack(&framed(window), &small()));
    assert_eq!(unpack(20), "ok");
    assert_eq!(unpack(21), "compression");
    assert_eq!(unpack(27), "compression");
}

#[test]
fn a_bomb_is_refused_before_it_goes_off() {
    let announced = encode(&entry("f", Kind::File(Content::dense(1 << 40))));
    let zeros = io::repeat(0).take(256 << 20);
    let bomb = zstd::encode_all(announced.as_slice().chain(zeros), 1).unwrap();
    assert!(bomb.len() < 100_000);
    let field = Field::new();
    assert_eq!(code(&field.unpack(&bomb, &Limits::default())), "too_large");
    assert_eq!(fs::read_dir(&field.root).unwrap().count(), 0);
}

#[test]
fn an_input_that_cannot_be_read_is_told_from_a_bad_one() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let framed = frame(&sample());
    for cut in 0..=framed.len() {
        let field = Field::new();
        let unpacked = unpack(&field.root, &small(), framed[..cut].chain(Broken));
        match unpacked {
            Err(UnpackError::Read(error)) => {
                assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
            }
            other => panic!("{cut}: {other:?}"),
        }
    }
}
