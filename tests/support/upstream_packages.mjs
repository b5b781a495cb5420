// What package managers and git ask for, made when the upstream starts: a Python index with one wheel (below /simple/ and
// /wheels/), an npm registry with one package (/npm/), and a git repository over plain HTTP (/git/repo.git/).
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, gzipSync } from "node:zlib";

const VERSION = "1.0.0";
const WHEEL = `cloister_probe-${VERSION}-py3-none-any.whl`;
const digest = (algorithm, bytes, encoding) => createHash(algorithm).update(bytes).digest(encoding);

/** Answers for URLs: `{type, body}`, or undefined for one that is none of these. Removes its files when the process ends. */
export function packages() {
  const python = wheel();
  const npm = tarball();
  const repository = createRepository();
  process.on("exit", () => rmSync(repository, { recursive: true, force: true }));
  return (url) => {
    switch (url.pathname) {
      case "/simple/cloister-probe/":
      case "/simple/cloister_probe/":
        return { type: "text/html", body: `<!DOCTYPE html>\n<a href="/wheels/${WHEEL}#sha256=${digest("sha256", python, "hex")}">${WHEEL}</a>\n` };
      case `/wheels/${WHEEL}`:
        return { type: "application/octet-stream", body: python };
      case "/npm/cloister-probe":
        return { type: "application/json", body: JSON.stringify(npmDocument(npm, url.origin)) };
      case `/npm/cloister-probe/-/cloister-probe-${VERSION}.tgz`:
        return { type: "application/octet-stream", body: npm };
    }
    if (!url.pathname.startsWith("/git/repo.git/")) return undefined;
    // A parsed URL has no ".." left.
    const file = join(repository, url.pathname.slice("/git/repo.git/".length));
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? { type: "text/plain", body: readFileSync(file) } : undefined;
  };
}

function wheel() {
  const info = `cloister_probe-${VERSION}.dist-info`;
  const files = [
    ["cloister_probe/__init__.py", `VERSION = "${VERSION}"\n`],
    [`${info}/METADATA`, `Metadata-Version: 2.1\nName: cloister-probe\nVersion: ${VERSION}\n`],
    [`${info}/WHEEL`, "Wheel-Version: 1.0\nGenerator: cloister\nRoot-Is-Purelib: true\nTag: py3-none-any\n"],
  ];
  const records = files.map(([name, text]) => `${name},sha256=${digest("sha256", text, "base64url")},${Buffer.byteLength(text)}\n`);
  return zip([...files, [`${info}/RECORD`, `${records.join("")}${info}/RECORD,,\n`]]);
}

/** A ZIP archive of files that are stored as they are. */
function zip(files) {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const [name, text] of files) {
    const body = Buffer.from(text);
    // Version 2.0, no flags, stored, 1980-01-01; then check sum, both sizes, length of the name, no extra field.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(body), 10);
    common.writeUInt32LE(body.length, 14);
    common.writeUInt32LE(body.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), body]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    rest.writeUInt32LE(at, 10);
    directory.push(Buffer.from("PK\x01\x02"), Buffer.from([20, 3]), common, rest, Buffer.from(name));
    parts.push(local);
    at += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, listed, end]);
}

function npmDocument(archive, origin) {
  const dist = {
    tarball: `${origin}/npm/cloister-probe/-/cloister-probe-${VERSION}.tgz`,
    shasum: digest("sha1", archive, "hex"),
    integrity: `sha512-${digest("sha512", archive, "base64")}`,
  };
  const versions = { [VERSION]: { name: "cloister-probe", version: VERSION, dist } };
  return { name: "cloister-probe", "dist-tags": { latest: VERSION }, versions };
}

function tarball() {
  const files = [
    ["package/package.json", `${JSON.stringify({ name: "cloister-probe", version: VERSION, main: "index.js" })}\n`],
    ["package/index.js", `exports.version = "${VERSION}";\n`],
  ];
  return gzipSync(Buffer.concat([...files.flatMap(([name, text]) => tarred(name, Buffer.from(text))), Buffer.alloc(1024)]));
}

/** A file in a tar archive: its header and its content, each filled up to blocks. */
function tarred(name, body) {
  const header = Buffer.alloc(512);
  const octal = (value, digits) => `${value.toString(8).padStart(digits, "0")}\0`;
  header.write(name, 0);
  header.write(octal(0o644, 7) + octal(0, 7) + octal(0, 7) + octal(body.length, 11) + octal(0, 11), 100);
  header.write("        0", 148);
  header.write("ustar\x0000", 257);
  header.write(`${octal(header.reduce((sum, byte) => sum + byte, 0), 6)} `, 148);
  return [header, body, Buffer.alloc(-body.length & 511)];
}

/** A bare repository with one commit on `main`, which holds README.md: its folder. */
function createRepository() {
  const folder = mkdtempSync(join(tmpdir(), "cloister-upstream-git-"));
  const author = { NAME: "Probe", EMAIL: "probe@upstream.example", DATE: "2026-01-01T00:00:00Z" };
  const who = Object.entries(author).flatMap(([key, value]) => [[`GIT_AUTHOR_${key}`, value], [`GIT_COMMITTER_${key}`, value]]);
  // The settings of whoever runs this stay out of it.
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", ...Object.fromEntries(who) };
  const git = (argv, input = "") => execFileSync("git", ["--git-dir", folder, ...argv], { env, input, encoding: "utf8" }).trim();
  git(["init", "--quiet", "--bare", "--initial-branch=main"]);
  const blob = git(["hash-object", "-w", "--stdin"], "cloister probe\n");
  const tree = git(["mktree"], `100644 blob ${blob}\tREADME.md\n`);
  git(["update-ref", "refs/heads/main", git(["commit-tree", tree, "-m", "First"])]);
  git(["update-server-info"]);
  return folder;
}
