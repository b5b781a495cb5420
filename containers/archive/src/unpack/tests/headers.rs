//! Headers that say something else than those that are written here, or say it otherwise.
use tar::{EntryType, Header};

use super::*;
use crate::entry::Extent;

/// Changes the ustar header of an entry without data, and makes its checksum right.
fn altered(entry: &[u8], alter: impl FnOnce(&mut Header)) -> Vec<u8> {
    let (records, header) = entry.split_at(entry.len() - 512);
    let mut header = Header::from_byte_slice(header).clone();
    alter(&mut header);
    header.set_cksum();
    [records, header.as_bytes()].concat()
}

/// An entry with these records before its header.
fn with_records(kind: EntryType, size: u64, records: &[u8]) -> Vec<u8> {
    let mut extended = Header::new_ustar();
    extended.set_entry_type(EntryType::XHeader);
    extended.as_old_mut().name[..12].copy_from_slice(b"PaxHeaders/x");
    extended.set_mode(0o644);
    extended.set_size(records.len() as u64);
    extended.set_cksum();
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.as_old_mut().name[0] = b'f';
    header.set_mode(0o777);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(1_000_000_000);
    header.set_size(size);
    header.set_cksum();
    let padding = &END[..padding(records.len() as u64)];
    [extended.as_bytes(), records, padding, header.as_bytes()].concat()
}

const MTIME: &str = "30 mtime=1000000000.000000005\n";

#[test]
fn the_helper_writes_what_packing_writes() {
    let bare = with_records(EntryType::Regular, 0, MTIME.as_bytes());
    assert_eq!(bare, file("f", b""));
}

#[test]
fn f1_a_size_that_disagrees_is_refused() {
    let hidden = archive(&[file("hidden", b"evil")]);
    let larger = format!("{MTIME}12 size=512\n");
    let zero = format!("{MTIME}10 size=0\n");
    let same = format!("{MTIME}13 size=2048\n");
    let nested = hidden[..2048].to_vec();
    for (records, size) in [(&larger, 0), (&zero, 2048), (&same, 2048)] {
        let entry = with_records(EntryType::Regular, size, records.as_bytes());
        let field = Field::new();
        let tar = archive(&[entry, nested.clone()]);
        assert_eq!(
            code(&field.unpack(&frame(&tar), &small())),
            "header",
            "{records}"
        );
        assert_eq!(fs::read_dir(&field.root).unwrap().count(), 0);
    }
}

#[test]
fn f1_an_archive_in_a_file_stays_in_it() {
    let inner = archive(&[file("hidden", b"evil")]);
    let field = Field::new();
    let tar = archive(&[file("outer.tar", &inner), file("z", b"")]);
    assert_eq!(code(&field.unpack(&frame(&tar), &small())), "ok");
    assert!(fs::read(field.root.join("outer.tar")).unwrap() == inner);
    assert_eq!(fs::read_dir(&field.root).unwrap().count(), 2);
}

#[test]
fn records_of_other_kinds_are_refused() {
    for records in [
        "",
        "24 mtime=1000000000.0000\n",
        "20 mtime=1000000000\n",
        "31 mtime=+1000000000.000000005\n",
        "31 mtime=01000000000.000000005\n",
        "31 mtime=1000000000.0000000050\n",
        "30 mtime=1000000000.999999999\n30 mtime=1000000000.000000005\n",
        "30 mtime=1000000000.000000005\n30 mtime=1000000000.000000005\n",
        "10 path=f\n30 mtime=1000000000.000000005\n",
        "30 mtime=1000000000.000000005\n10 path=g\n",
        "30 mtime=1000000000.000000005\n8 uid=5\n",
        "30 mtime=1000000000.000000005\n13 comment=x\n",
        "30 mtime=1000000000.000000005\n25 SCHILY.xattr.user.a=b\n",
        "30 mtime=1000000000.000000005\n\n",
        "30 mtime=1000000000.000000005",
        "030 mtime=1000000000.000000005\n",
        "29 mtime=1000000000.000000005\n",
        "31 mtime=1000000000.000000005\n",
        "99999999999999999999 mtime=1\n",
        "18446744073709551615 mtime=1\n",
        "0 mtime=1000000000.000000005\n",
        "2 mtime=1000000000.000000005\n",
        "30mtime==1000000000.000000005\n",
        "30 mtime:1000000000.000000005\n",
        "-1 mtime=1000000000.000000005\n",
        "28 GNU.sparse.realsize=10000\n30 mtime=1000000000.000000005\n",
    ] {
        let entry = with_records(EntryType::Regular, 0, records.as_bytes());
        assert_eq!(unpacked(&[entry]), "header", "{records:?}");
    }
}

#[test]
fn lists_of_holes_that_make_no_sense_are_refused() {
    let sparse = |size: u64, map: &str, stored: u64| {
        let count = map.split(',').count().div_ceil(2).to_string();
        let mut records = MTIME.to_owned();
        for (key, value) in [
            ("GNU.sparse.size", size.to_string().as_str()),
            ("GNU.sparse.numblocks", &count),
            ("GNU.sparse.name", "f"),
            ("GNU.sparse.map", map),
        ] {
            let bare = key.len() + value.len() + 3;
            let length = bare + if bare + 2 < 100 { 2 } else { 3 };
            records += &format!("{length} {key}={value}\n");
        }
        let data = vec![1; stored as usize];
        let padding = &END[..padding(stored)];
        let entry = with_records(EntryType::Regular, stored, records.as_bytes());
        unpacked(&[[entry.as_slice(), &data, padding].concat()])
    };
    assert_eq!(sparse(4096, "0,10,2048,20,4096,0", 30), "ok");
    assert_eq!(sparse(4096, "0,10,4076,20", 30), "ok");
    assert_eq!(sparse(4096, "4096,0", 0), "ok");
    for (size, map, stored) in [
        (4096, "0,10,5,20", 30),
        (4096, "2048,20,0,10", 30),
        (4096, "0,10,4090,20", 30),
        (4096, "0,10,4076,20", 31),
        (4096, "0,10,4076,20", 29),
        (4096, "0,10,2048,20", 30),
        (4096, "0,10,4076,20,4096,0", 30),
        (4096, "0,10,2048,0,4096,0", 10),
        (4096, "0,10,4096,0,4096,0", 10),
        (4096, "0,10,2048", 10),
        (4096, "0,4096", 4096),
        (4096, "0,10,", 10),
        (4096, "", 0),
        (4096, "0,18446744073709551615,1,1", 10),
        (4096, "00,10", 10),
        (4096, "+0,10", 10),
        (4096, "0, 10", 10),
    ] {
        assert_eq!(sparse(size, map, stored), "header", "{map}");
    }
    let apart = |count: u64| {
        let extents = (0..count).map(|index| Extent {
            offset: index * 2,
            bytes: 1,
        });
        let size = count * 2;
        let extents = extents.collect();
        let kind = Kind::File(Content { size, extents });
        let mut bytes = encode(&entry("f", kind));
        bytes.resize(bytes.len() + count as usize + padding(count), 0);
        let limits = Limits::default();
        code(&Field::new().unpack(&frame(&archive(&[bytes])), &limits))
    };
    assert_eq!(apart(16_384), "ok");
    assert_eq!(apart(16_385), "header");
}

#[test]
fn entries_that_are_not_files_folders_or_links_are_refused() {
    for kind in [
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::Continuous,
        EntryType::GNUSparse,
        EntryType::GNULongName,
        EntryType::GNULongLink,
        EntryType::XGlobalHeader,
        EntryType::XHeader,
        EntryType::new(b'V'),
        EntryType::new(b'7'),
        EntryType::new(b'S'),
        EntryType::new(0xff),
    ] {
        let entry = with_records(kind, 0, MTIME.as_bytes());
        assert_eq!(unpacked(std::slice::from_ref(&entry)), "header", "{kind:?}");
        // And without records before it.
        let bare = entry[entry.len() - 512..].to_vec();
        let code = unpacked(&[bare]);
        let expected = if kind == EntryType::XHeader {
            "header"
        } else {
            "no_records"
        };
        assert_eq!(code, expected, "{kind:?}");
    }
}

#[test]
fn fields_that_say_it_otherwise_are_refused() {
    let plain = folder("f");
    type Alter = fn(&mut Header);
    let alterations: [Alter; 15] = [
        |header| header.as_old_mut().linkflag = [0],
        |header| header.set_size(512),
        |header| header.set_mode(0o10_777),
        |header| header.set_mode(0o40_777),
        |header| header.set_uid(u32::MAX.into()),
        |header| header.set_gid(1 << 32),
        |header| header.set_mtime(0),
        |header| header.as_old_mut().mode = *b"777\0\0\0\0\0",
        |header| header.as_old_mut().mode = *b"   777 \0",
        |header| header.as_old_mut().uid = [0x80, 0, 0, 0, 0, 0, 0, 0],
        |header| header.as_old_mut().name[50] = b'x',
        |header| header.as_old_mut().linkname[0] = b'x',
        |header| header.as_ustar_mut().unwrap().prefix[0] = b'x',
        |header| header.as_ustar_mut().unwrap().uname[0] = b'x',
        |header| header.as_ustar_mut().unwrap().magic = *b"ustar ",
    ];
    for (index, alter) in alterations.into_iter().enumerate() {
        let code = unpacked(&[altered(&plain, alter)]);
        assert_eq!(code, "header", "{index}");
    }
    let mut wrong = plain.clone();
    let sum = wrong.len() - 512 + 150;
    wrong[sum] ^= 1;
    assert_eq!(unpacked(&[wrong]), "header");
    assert_eq!(unpacked(&[altered(&plain, |_| {})]), "ok");
}

#[test]
fn every_byte_of_a_header_counts() {
    let plain = file("f", b"12345");
    // Another time is as good, but its seconds are in two places.
    let nanos = 512 + MTIME.len() - 10..512 + MTIME.len() - 1;
    for byte in 0..plain.len() - 512 {
        let mut bytes = plain.clone();
        bytes[byte] ^= 1 << (byte % 4);
        let code = unpacked(&[bytes]);
        assert_eq!(code == "ok", nanos.contains(&byte), "byte {byte}: {code}");
    }
}

#[test]
fn more_than_the_limits_is_refused_before_it_is_written() {
    let folders: Vec<Vec<u8>> = (10..31).map(|name| folder(name.to_string())).collect();
    assert_eq!(unpacked(&folders), "too_large");
    assert_eq!(unpacked(&folders[..20]), "ok");
    let huge = encode(&entry("f", Kind::File(Content::dense(u64::MAX))));
    assert_eq!(unpacked(&[huge]), "too_large");
    let hole = Content {
        size: 5001,
        extents: vec![],
    };
    assert_eq!(
        unpacked(&[encode(&entry("f", Kind::File(hole)))]),
        "too_large"
    );
    let full = vec![1; 5000];
    assert_eq!(unpacked(&[file("a", &full), file("b", &full)]), "ok");
    assert_eq!(
        unpacked(&[file("a", &full), file("b", &full), file("c", b"1")]),
        "too_large"
    );
    let deep = ["a", "a/a", "a/a/a", "a/a/a/a", "a/a/a/a/a"].map(folder);
    assert_eq!(unpacked(&deep[..4]), "ok");
    assert_eq!(unpacked(&deep), "too_large");
    assert_eq!(unpacked(&[symlink("s", "t".repeat(300))]), "ok");
    assert_eq!(unpacked(&[symlink("s", "t".repeat(301))]), "too_large");
    assert_eq!(unpacked(&[folder("n".repeat(301))]), "too_large");
    // So large that it is not even read.
    let records = vec![b'x'; 2 << 20];
    let entry = with_records(EntryType::Regular, 0, &records);
    assert_eq!(unpacked(&[entry]), "records_size");
}
