"""Two hostile processes write beside a publisher: never an unpaid, forged or second draw.

They plant, replace, delete, link, cut and rename whatever stands there, with files of earlier releases, while
it publishes, is killed and tries again. Afterwards everything that is signed was drawn, paid and committed,
each payment has at most one draw, and nothing was written through a link.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.faults.publishing import CONTEXT, World
from tests.releases.worlds import truth

from safeside.errors import SafesideError
from safeside.ledger import Stage, open_ledger, steps
from safeside.ledger.witness import STATE_VARIABLE
from safeside.releases import publish_steps
from safeside.releases.release import Release, load_release
from safeside.releases.signature import check_signature
from safeside.releases.signing import load_public
from safeside.releases.verify import verify

REQUESTS: Final = 60
SMALL_REQUESTS: Final = 6
TRIES: Final = 3
PATIENCE: Final = 120
LOST: Final = "refused: BadRelease"
"""The draw was committed, and the vandals destroyed it, or the release that it became."""
EPSILON: Final = "1/100"
_SUFFIXES: Final = ("sealed", "appearing", "staged", "drawing", "purged", "lock", "signature")
_BAIT: Final = b"nobody writes here"


class Vandal:
    """One hostile process: knows the schedule and every public file, and may write where releases stand."""

    def __init__(self, home: Path, dice: random.Random) -> None:
        self.home, self.dice = home, dice
        self.parent, self.public = home / "releases", home / "public"

    def act(self, request: str) -> None:
        """One thing, to one name."""
        acts: list[Callable[[Path], object]] = [
            self.write, self.write, self.copy, self.copy, self.cut, self.flip, self.delete, self.link,
            self.pipe, self.rename, lambda path: path.mkdir(),
        ]  # fmt: skip
        with suppress(OSError, shutil.Error):
            path = self.target(request)
            if path.parent == self.parent:
                self.dice.choice(acts)(path)
                return
            # By the open directory: the other process may put a link in its place, and only what a
            # publisher writes through a link is to be found.
            handle = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                self.dice.choice(acts)(Path(f"/proc/self/fd/{handle}") / path.name)
            finally:
                os.close(handle)

    def target(self, request: str) -> Path:
        """A name that is there, one inside a hidden directory, or one that the publisher may come to use."""
        there = list(self.parent.iterdir())
        inside = [
            one for path in there if path.name.startswith(".") and path.is_dir() for one in path.iterdir()
        ]
        token = hashlib.sha256(request.encode()).hexdigest()[:16]
        draw = self.dice.choice(["", f"{self.dice.getrandbits(64):016x}."])
        guessed = self.parent / f".{request}.{token}.{draw}{self.dice.choice(_SUFFIXES)}"
        return self.dice.choice([*there, *inside, guessed, guessed, self.parent / request])

    def data(self) -> bytes:
        """Bytes of a public release, perhaps of another name, perhaps made to say that all is quiet."""
        path = self.dice.choice([one for one in self.public.rglob("*") if one.is_file()])
        data = path.read_bytes()
        return data if self.dice.random() < 0.5 else data.replace(b"UNCLEAR", b"AT_MOST")

    def write(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | self.dice.choice([0, os.O_TRUNC])
        handle = os.open(path, flags, 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(self.data())

    def copy(self, path: Path) -> None:
        """A whole public release under this name, perhaps without its signature, perhaps for this request."""
        made = self.home / f"made{os.getpid()}"
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(self.dice.choice(list(self.public.iterdir())), made)
        if self.dice.random() < 0.5:
            (made / "signature.json").unlink()
        if self.dice.random() < 0.5:
            record = json.loads((made / "release.json").read_bytes())
            record["release"] = self.dice.choice([path.name, "r"])
            (made / "release.json").write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")
        made.rename(path)

    def cut(self, path: Path) -> None:
        handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            os.ftruncate(handle, self.dice.choice([0, 100, 1 << 20]))
        finally:
            os.close(handle)

    def flip(self, path: Path) -> None:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            at = self.dice.randrange(max(1, os.fstat(handle).st_size))
            os.pwrite(handle, bytes([self.dice.randrange(256)]), at)
        finally:
            os.close(handle)

    def delete(self, path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

    def link(self, path: Path) -> None:
        if path.parent == self.parent and not path.name.startswith("."):
            # A link in the place of --out is followed, as a publisher's own link is.
            return
        self.delete(path) if os.path.lexists(path) else None
        path.symlink_to(self.dice.choice([self.home / "bait", self.home / "bait.d", self.home / "nothing"]))

    def pipe(self, path: Path) -> None:
        self.delete(path) if os.path.lexists(path) else None
        os.mkfifo(path)

    def rename(self, path: Path) -> None:
        path.rename(self.parent / f"taken{self.dice.getrandbits(16)}")


def rampage(home: str, request: str, seed: int) -> None:
    """Act, now and then or all the time, from the moment it is told to until it is stopped."""
    vandal = Vandal(Path(home), random.Random(seed))
    pause = vandal.dice.choice([0.002, 0.02, 0.1])
    while not (vandal.home / "enough").exists():
        if (vandal.home / "begin").exists():
            vandal.act(request)
        time.sleep(vandal.dice.uniform(0, pause))


def attempt(home: str, request: str, step: str, seed: int) -> None:
    """Publish, slowly, and write down what came of it; from the step on there is vandalism."""
    os.environ[STATE_VARIABLE] = str(Path(home) / "state")
    dice = random.Random(seed)

    def reached(name: str) -> None:
        if name == step:
            (Path(home) / "begin").touch()
        time.sleep(dice.uniform(0, 0.02))

    steps.reached = reached
    try:
        publish(World(Path(home)), request)
        said = "published"
    except SafesideError as error:
        said = f"refused: {type(error).__name__}"
        (Path(home) / "told").write_text(str(error))
    except Exception:  # noqa: BLE001
        said = f"a raw error\n{traceback.format_exc()}"
    (Path(home) / "said").write_text(said)


def publish(world: World, request: str) -> Release:
    """The release of this request, in a directory of its name."""
    out = world.home / "releases" / request
    return world.publish("counts", request_id=request, out=out, epsilon=EPSILON, again=True)


class Siege:
    """One publisher, its public releases, and what must be true however they are attacked."""

    def __init__(self, home: Path, dice: random.Random) -> None:
        self.world, self.dice = World.made(home), dice
        self.context = multiprocessing.get_context("fork")
        self.seen: Counter[str] = Counter()
        self.keys = load_public(home / "key.pub")
        (home / "bait").write_bytes(_BAIT)
        (home / "bait.d").mkdir()
        publish(self.world, "first")
        shutil.copytree(home / "releases" / "first", home / "public" / "first")

    def besiege(self, request: str) -> bool:
        """Publish under attack, killed now and then; then in peace; whether there is a release in the end."""
        home = self.world.home
        vandals = [
            self.context.Process(target=rampage, args=(str(home), request, self.dice.getrandbits(32)))
            for _ in range(2)
        ]
        for one in vandals:
            one.start()
        try:
            for _ in range(TRIES):
                self._try(request, patience=self.dice.choice([PATIENCE, self.dice.uniform(0, 0.8)]))
        finally:
            (home / "enough").touch()
            for one in vandals:
                one.join()
            (home / "enough").unlink()
        self.check()
        self._tidy(request)
        said = self._try(request, patience=PATIENCE)
        self.check()
        if said == LOST:
            return False
        assert said == "published", (home / "told").read_text()
        out = home / "releases" / request
        with open_ledger(home / "ledger.db") as ledger:
            verify(out, self.keys, ledger=ledger)
        shutil.copytree(out, home / "public" / request)
        return True

    def _try(self, request: str, *, patience: float) -> str:
        """What came of one run of the command; killed when patience ends."""
        home = self.world.home
        for name in ("said", "begin"):
            (home / name).unlink(missing_ok=True)
        step, seed = self.dice.choice(publish_steps.STEPS), self.dice.getrandbits(32)
        child = CONTEXT.Process(target=attempt, args=(str(home), request, step, seed))
        child.start()
        child.join(patience)
        if child.is_alive():
            assert patience < PATIENCE, "the publisher hangs"
            child.kill()
            child.join()
        said = "killed" if child.exitcode == -signal.SIGKILL else (home / "said").read_text()
        assert not said.startswith("a raw error"), said
        self.seen[said] += 1
        return said

    def _tidy(self, request: str) -> None:
        """As a curator does who finds the mess: all goes but the true release, or the draw of the ledger."""
        home = self.world.home
        with open_ledger(home / "ledger.db") as ledger:
            known = {draw.file for draw in ledger.draws().values()}
            with suppress(SafesideError):
                # A true release of another day may have been put there.
                known.add(verify(home / "releases" / request, self.keys, ledger=ledger).id)
        for path in (home / "releases").iterdir():
            if path.name not in known:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def check(self) -> None:
        """The ledger is true, each payment has at most one draw, and everything signed is one of them."""
        home = self.world.home
        with open_ledger(home / "ledger.db") as ledger:
            ledger.verify()
            paid = ledger.reservations("city")
            committed = {one.manifest for one in paid if one.stage is Stage.COMMITTED}
            kinds = Counter(event.action.kind for event in ledger.history())
            spent = ledger.show("city").periods[0].spent.epsilon
        assert spent == sum(one.charged.epsilon for one in paid), "an unpaid release"
        assert kinds["commit"] == len(committed) <= kinds["reserve"] == len(paid), "a second draw"
        for path in (home / "releases").rglob("signature.json"):
            self._check_signed(path.parent, committed)
        assert (home / "bait").read_bytes() == _BAIT, "written through a link"
        assert not (found := list((home / "bait.d").iterdir())), f"written through a link: {found}"

    def _check_signed(self, directory: Path, committed: set[str | None]) -> None:
        """Whatever carries our signature is a draw of ours, and true."""
        try:
            check_signature(directory, "release.json", self.keys)
            release = load_release(directory)
        except (SafesideError, OSError):
            return
        assert release.digest in committed, "a release is signed that the ledger has not committed to"
        try:
            whole = verify(directory, self.keys)
        except SafesideError:
            # Its other files were spoilt after it appeared, which anybody can see.
            return
        counts = truth()
        said = zip(whole.answers.places, whole.answers.upper, strict=True)
        assert all(upper >= counts[place] for place, upper in said), "a forged answer is signed"


def main(words: list[str]) -> int:
    """One request after the other, each under attack."""
    requests = SMALL_REQUESTS if "--small" in words else REQUESTS
    seed = random.SystemRandom().getrandbits(32)
    say(f"seed {seed}")
    published = 0
    with tempfile.TemporaryDirectory() as directory:
        siege = Siege(Path(directory) / "city", random.Random(seed))
        for number in range(requests):
            published += siege.besiege(f"day{number:04}")
    say(f"{requests} requests, {TRIES} runs each under attack by 2 processes, then one in peace. Runs:")
    for what, number in sorted(siege.seen.items()):
        say(f"  {what}: {number}")
    say(f"{published} published in the end, {requests - published} spoilt after the commit, and charged.")
    say("Never a signed release that was not drawn, paid and committed; never two for one payment.")
    return 0


def say(text: str) -> None:
    """One line of the report."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    os.chdir(Path(__file__).parent.parent)
    sys.exit(main(sys.argv[1:]))
