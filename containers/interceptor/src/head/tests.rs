#![allow(clippy::unwrap_used)]

use tokio::io::AsyncWriteExt;

use super::*;

const LIMIT: Duration = Duration::from_secs(5);

#[tokio::test]
async fn head_and_what_follows_are_told_apart() {
    for chunk in [1, 2, 3, 7, 1000] {
        let (mut near, mut far) = tokio::io::duplex(64);
        let writer = tokio::spawn(async move {
            for part in b"GET / HTTP/1.1\r\nA: b\r\n\r\nrest".chunks(chunk) {
                far.write_all(part).await.unwrap();
            }
        });
        let (head, mut beyond) = read_head(&mut near, LIMIT).await.unwrap();
        near.read_to_end(&mut beyond).await.unwrap();
        writer.await.unwrap();
        assert_eq!(
            (head.as_slice(), beyond.as_slice()),
            (&b"GET / HTTP/1.1\r\nA: b\r\n\r\n"[..], &b"rest"[..]),
            "{chunk}"
        );
    }
}

#[tokio::test]
async fn endless_and_cut_heads_fail() {
    let mut endless = tokio::io::repeat(b'x');
    assert!(read_head(&mut endless, LIMIT).await.is_err());
    assert!(read_head(&mut &b"GET / HTTP/1.1\r\n"[..], LIMIT)
        .await
        .is_err());
    let (mut silent, _held) = tokio::io::duplex(64);
    let error = read_head(&mut silent, Duration::from_millis(20))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}
