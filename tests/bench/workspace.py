# Fills the folder that it is started in, or tells what is in it; the figure about checkpoints runs this in sandboxes.
#
#   make MIB FILES SHARE SHARES   makes one of several shares of FILES files with MIB MiB together. Half of the bytes are
#                                 random, half are words. The same arguments make the same files.
#   look                          prints their number, their bytes, and a digest of names, modes, times and contents.
#
# No apostrophe may be in this file: it is quoted with them.
import hashlib, os, random, sys


def make(mib, files, share, shares):
    seeded = random.Random(0)
    weights = [seeded.lognormvariate(0, 2) for _ in range(files // 2)]
    scale = (mib << 19) / sum(weights)
    letters = b"etaoinshrdlu"
    vocabulary = [bytes(seeded.choices(letters, k=seeded.randint(3, 9))) for _ in range(256)]
    # The first words are the frequent ones.
    words = [vocabulary[byte * byte >> 8] for byte in range(256)]
    for pair in range(share, len(weights), shares):
        size = round(weights[pair] * scale)
        seeded = random.Random(pair)
        os.makedirs(f"folder{pair // 50}", exist_ok=True)
        noise = seeded.randbytes(size)
        text = b" ".join(map(words.__getitem__, seeded.randbytes(size // 4 + 1)))[:size]
        for name, content in ("noise", noise), ("text", text):
            path = f"folder{pair // 50}/{name}{pair}"
            with open(path, "wb") as file:
                file.write(content)
            os.chmod(path, (0o644, 0o600, 0o755)[pair % 3])
            os.utime(path, ns=(0, 1_700_000_000_123_456_789 + pair))


def look():
    count = total = 0
    whole = hashlib.sha256()
    for folder, folders, names in os.walk("."):
        folders.sort()
        for path in sorted(f"{folder}/{name}" for name in names):
            about = os.stat(path)
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            whole.update(f"{path} {about.st_mode:o} {about.st_mtime_ns} {digest}\n".encode())
            count += 1
            total += about.st_size
    print(count, total, whole.hexdigest())


if sys.argv[1] == "make":
    make(*map(int, sys.argv[2:]))
else:
    look()
