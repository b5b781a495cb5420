//! Any bytes as the archive in a stream. Checksums are made right, as nearly nothing would come further without.
#![no_main]
use tar::Header;

libfuzzer_sys::fuzz_target!(init: cloister_fuzz::seed(|stream| zstd::decode_all(stream.as_slice())), |bytes: &[u8]| {
    let mut archive = bytes.to_vec();
    for block in archive.chunks_exact_mut(512) {
        if block[257..262] == *b"ustar" {
            let mut header = Header::from_byte_slice(block).clone();
            header.set_cksum();
            block.copy_from_slice(header.as_bytes());
        }
    }
    if let Ok(stream) = zstd::encode_all(archive.as_slice(), 1) {
        cloister_fuzz::check(&stream);
    }
});
