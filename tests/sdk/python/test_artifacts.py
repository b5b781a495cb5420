"""Files that a turn publishes: the tests share a session, because each session starts containers."""

import asyncio
import pathlib
import tempfile
import unittest

import openai
from support import AGENT, ENVIRONMENT, Case, async_client, foreign_client, script, sessions

artifacts = sessions.artifacts
OUTPUTS = "/workspace/outputs"
WIDE = f"{OUTPUTS}/deep/größe €.txt"
UNKNOWN = "artifact_00000000000000000000000000000000"
# What is stored of a file apart from the rest.
PART = 16 << 20
# 20 MiB, of which each line says where it is.
LINES = (20 << 20) // 16
BIG = b"".join(b"%015d\n" % n for n in range(LINES))
FILES = {f"{OUTPUTS}/big.txt": BIG, WIDE: b"wide\n", f"{OUTPUTS}/empty": b"", f"{OUTPUTS}/hello.txt": b"hello\n"}
MAKE = " && ".join(
    [
        f"mkdir -p {OUTPUTS}/deep",
        f"cd {OUTPUTS}",
        "printf 'hello\\n' > hello.txt",
        "printf 'wide\\n' > 'deep/größe €.txt'",
        ": > empty",
        f"seq -f %015.0f 0 {LINES - 1} > big.txt",
        "ln -s hello.txt link",
    ]
)


class Artifacts(Case):
    @classmethod
    def setUpClass(cls):
        cls.session = sessions.create(agent=AGENT, environment=ENVIRONMENT)
        cls.id = cls.session.id
        cls.addClassCleanup(sessions.delete, cls.id)
        cls.result = cls.run_turn(script("Make files.", {"shell": MAKE}, {"say": "Made."}))
        cls.made = [artifact for artifact in artifacts.list(cls.id) if artifact.turn_id == cls.result.turn_id]
        cls.ids = {artifact.path: artifact.id for artifact in cls.made}

    @classmethod
    def run_turn(cls, text):
        with sessions.stream(cls.id, input=text) as stream:
            return stream.get_final_result()

    def content(self, path, **more):
        return artifacts.content(self.ids[path], session_id=self.id, **more)

    def test_each_regular_file_is_an_artifact_and_no_symlink(self):
        self.assertEqual({artifact.path: artifact.size_bytes for artifact in self.made}, {path: len(data) for path, data in FILES.items()})
        for artifact in self.made:
            self.assertEqual((artifact.session_id, artifact.environment_id), (self.id, self.session.environment.id))
            self.assertEqual(artifacts.retrieve(artifact.id, session_id=self.id), artifact)

    def test_content_is_the_file_at_once_and_as_a_stream(self):
        for path, data in FILES.items():
            with self.subTest(path=path):
                self.assertEqual(self.content(path).read(), data)
        with artifacts.with_streaming_response.content(self.ids[f"{OUTPUTS}/big.txt"], session_id=self.id) as response:
            self.assertEqual(response.headers["content-type"], "application/octet-stream")
            self.assertEqual(response.headers["content-length"], str(len(BIG)))
            self.assertEqual(b"".join(response.iter_bytes()), BIG)

    def test_a_result_finds_and_downloads_its_own(self):
        found = artifacts.for_result(self.result)
        self.assertEqual(found.content(WIDE).read(), b"wide\n")
        with tempfile.TemporaryDirectory() as folder:
            to = pathlib.Path(folder, "file")
            self.assertEqual(found.download(f"{OUTPUTS}/big.txt", to=to).path, f"{OUTPUTS}/big.txt")
            self.assertEqual(to.read_bytes(), BIG)
        with self.assertRaises(ValueError):
            found.content(f"{OUTPUTS}/link")

    def test_the_asynchronous_client(self):
        async def read():
            async with async_client() as other:
                resource = other.beta.agents.sessions.artifacts
                listed = [artifact async for artifact in resource.list(self.id, limit=1)]
                content = await resource.for_result(self.result).content(WIDE)
                return {artifact.id for artifact in listed}, await content.aread()

        listed, data = asyncio.run(read())
        self.assertLessEqual(set(self.ids.values()), listed)
        self.assertEqual(data, b"wide\n")

    def test_pages(self):
        listed = list(artifacts.list(self.id))
        self.assertEqual([len(page.data) for page in artifacts.list(self.id, limit=3).iter_pages()][0], 3)
        self.assertEqual(list(artifacts.list(self.id, limit=3, order="asc")), listed[::-1])
        self.assertEqual(list(artifacts.list(self.id, environment_id=self.session.environment.id)), listed)
        self.assertEqual(list(artifacts.list(self.id, environment_id="env_00000000000000000000000000000000")), [])
        for query in {"limit": 0}, {"limit": 101}, {"after": UNKNOWN}:
            with self.subTest(query=query), self.assertRaises(openai.BadRequestError) as refused:
                artifacts.list(self.id, **query)
            self.assertEqual(refused.exception.param, next(iter(query)))

    def test_a_range(self):
        big = f"{OUTPUTS}/big.txt"
        for asked, first, end in (
            (f"bytes={PART - 8}-{PART + 7}", PART - 8, PART + 8),
            ("bytes=-16", len(BIG) - 16, len(BIG)),
        ):
            part = self.content(big, extra_headers={"range": asked})
            self.assertEqual(part.response.status_code, 206)
            self.assertEqual(part.response.headers["content-range"], f"bytes {first}-{end - 1}/{len(BIG)}")
            self.assertEqual(part.read(), BIG[first:end])
        with self.assertRaises(openai.APIStatusError) as refused:
            self.content(big, extra_headers={"range": f"bytes={len(BIG)}-"})
        self.assertEqual(refused.exception.status_code, 416)

    def test_a_changed_file_is_a_new_artifact_and_a_deleted_one_is_gone(self):
        write = f"printf 'one\\n' > {OUTPUTS}/own.txt"
        one = self.run_turn(script("Write.", {"shell": write}, {"say": "Written."}))
        two = self.run_turn(script("Write again.", {"shell": write.replace("one", "two")}, {"say": "Written."}))
        added = {artifact.turn_id: artifact for artifact in artifacts.list(self.id) if artifact.turn_id in (one.turn_id, two.turn_id)}
        self.assertEqual({artifact.path for artifact in added.values()}, {f"{OUTPUTS}/own.txt"})
        old, new = added[one.turn_id], added[two.turn_id]
        self.assertEqual(artifacts.for_result(one).content(old.path).read(), b"one\n")
        self.assertEqual(artifacts.for_result(two).content(new.path).read(), b"two\n")

        for _ in range(2):
            deleted = artifacts.delete(old.id, session_id=self.id)
            self.assertEqual((deleted.id, deleted.object, deleted.deleted), (old.id, "agent.session.artifact.deleted", True))
        for call in artifacts.retrieve, artifacts.content:
            with self.subTest(call=call.__name__), self.assertRaises(openai.NotFoundError) as refused:
                call(old.id, session_id=self.id)
            self.assertEqual(refused.exception.code, "not_found_error")
            self.assertIn(f"Session artifact {old.id} was not found", refused.exception.message)
        self.assertEqual(artifacts.content(new.id, session_id=self.id).read(), b"two\n")

    def test_another_tenant_finds_nothing(self):
        known = self.ids[WIDE]
        with foreign_client() as other:
            foreign = other.beta.agents.sessions.artifacts
            with self.assertRaises(openai.NotFoundError):
                foreign.list(self.id)
            for call in foreign.retrieve, foreign.content, foreign.delete:
                with self.subTest(call=call.__name__), self.assertRaises(openai.NotFoundError):
                    call(known, session_id=self.id)
        self.assertEqual(artifacts.retrieve(known, session_id=self.id).id, known)


if __name__ == "__main__":
    unittest.main()
