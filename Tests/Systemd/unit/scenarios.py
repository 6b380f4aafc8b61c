"""What happens to a machine that records, and what must become of it."""

from __future__ import annotations

from collections.abc import Callable

from unit.bluetooth import put_in_the_air
from unit.companions import alerts, control, prune
from unit.machine import MachineError, wait_for
from unit.neighbours import neighbours
from unit.service import DATABASE, PATIENT, Service

# Back within ten seconds of whatever has ended; the machine of the tests shares two processors.
_BACK = 10.0
_DAEMON_DOWN = ("daemonDown",)
_REBOOTED = ("hostRestarted",)


def boot(service: Service) -> None:
    """Switched off in order and on again: the unit starts by itself, with what was recorded. The process ended before the
    machine did, so that is the cause.
    """
    service.record()
    with service.one_gap(_DAEMON_DOWN, 120, "from the end of the old boot into the new one"):
        service.machine.shut_down()
        service.machine.boot()
        wait_for(lambda: service.property("ActiveState") == "active", 120, "the unit starts at boot")


def power_cut(service: Service) -> None:
    """The power goes, and comes back."""
    service.record()
    # With `synchronous: normal` the last ten seconds may be gone, and with them a recording that is no older.
    wait_for(lambda: service.newest()[1] > 256 * 20, 120, "twenty seconds are recorded")
    with service.one_gap(_REBOOTED, 120, "from the power cut to samples of the next boot"):
        service.machine.cut_power()
        service.machine.boot()
    if service.machine.run(f"sqlite3 {DATABASE} 'PRAGMA integrity_check'") != "ok":
        raise MachineError("the power cut has damaged the database")


def crash(service: Service) -> None:
    """SIGSEGV: systemd starts it again, and the new process says which recordings fell."""
    service.record()
    with service.one_gap(_DAEMON_DOWN, _BACK, "after SIGSEGV"):
        service.machine.run("systemctl kill --signal=SEGV eegsync")
        service.expect_in_journal("it was killed by SIGSEGV. It recorded left (recording 1), right (recording 2)")


def crash_loop(service: Service) -> None:
    """It dies at each start: from the third time on it waits, longer and longer, says so, and a person ends that."""
    service.record()
    pid = service.property("MainPID")
    with service.one_gap(_DAEMON_DOWN, 60, "through five crashes in a row", most_gaps=5):
        for _ in range(5):
            service.machine.run("systemctl kill --signal=SEGV eegsync")
            died = pid
            pid = _started_after(service, died)
            wait_for(lambda: service.property("ActiveState") == "active", 60, "it is up again")
        wait_for(lambda: "this one waits 4" in service.property("StatusText"), 30, "systemctl status says that it waits")
        service.machine.run("systemctl restart eegsync")
        service.expect_more(_BACK)


def _started_after(service: Service, died: str) -> str:
    """Waits for another main process than the one that died; its id."""

    def other() -> str | None:
        pid = service.property("MainPID")
        return pid if pid not in ("0", died) else None

    return wait_for(other, 60, "it is started again")


def hang(service: Service) -> None:
    """The process stops: the watchdog ends it after 15 s."""
    service.record()
    with service.one_gap(_DAEMON_DOWN, 40, "a hang of WatchdogSec=15 and what follows"):
        service.machine.run("systemctl kill --kill-whom=main --signal=STOP eegsync")
        service.expect_in_journal("it hung and was killed by the watchdog", 90)


def out_of_memory(service: Service) -> None:
    """The kernel kills it for want of memory; the new process says so and names the recordings that fell."""
    service.record()
    configured = service.property("MemoryMax")
    if configured != str(320 * 1024 * 1024):
        raise MachineError(f"MemoryMax is {configured}")
    with service.one_gap(_DAEMON_DOWN, 30, "after the killer of processes"):
        # The limit comes down to what the process has: the same as a leak that grows to the limit.
        service.machine.run("systemctl set-property --runtime eegsync MemoryMax=3M; echo done")
        wait_for(lambda: "oom-kill" in service.machine.attempt("cat /run/eegsync/last-end")[1], 60, "systemd has seen it")
        service.machine.run(f"systemctl set-property --runtime eegsync MemoryMax={configured}")
        service.expect_in_journal("the kernel killed it for want of memory")
        service.expect_in_journal("It recorded left (recording 1), right (recording 2), which goes on")


def stop(service: Service) -> None:
    """`systemctl stop` is obeyed, at once and in order; what was recorded goes on after `systemctl start`."""
    service.record()
    with service.one_gap(_DAEMON_DOWN, 60, "from stop to start"):
        service.machine.run("systemctl stop eegsync")
        if (service.property("ActiveState"), service.property("Result")) != ("inactive", "success"):
            raise MachineError("it did not end in order")
        newest = service.newest()
        service.machine.run("journalctl --sync")
        if newest != service.newest() or service.machine.attempt("pgrep -x eegsync")[0] == 0:
            raise MachineError("it goes on although it was stopped")
        service.machine.run("systemctl start eegsync")


def restart(service: Service) -> None:
    """`systemctl restart`."""
    service.record()
    with service.one_gap(_DAEMON_DOWN, _BACK, "a restart"):
        service.machine.run("systemctl restart eegsync")


def broken_reload(service: Service) -> None:
    """A configuration with an error is not used: nothing else happens."""
    service.record()
    pid = service.property("MainPID")
    with service.one_gap((), 0, "a reload of a broken file"):
        service.machine.run("echo 'headsets: [' >>/etc/eegsync/eegsync.yaml; systemctl reload eegsync")
        service.expect_in_journal("the configuration is not used, the old one stays")
        wait_for(lambda: service.property("ActiveState") == "active", 30, "the reload has ended")
    if service.property("MainPID") != pid:
        raise MachineError("it was started anew")


def upgrade(service: Service) -> None:
    """The program is replaced while it records, as a package does it, and restarted."""
    has_older = service.machine.attempt("test -e /opt/eegsync-older")[0] == 0
    program = service.machine.run("readlink -f $(command -v eegsync)")
    if has_older:
        service.machine.run(f"cp {program} /opt/eegsync-newer; systemctl stop eegsync; cp /opt/eegsync-older {program}.new")
        service.machine.run(f"mv {program}.new {program}; rm -f {DATABASE}*; systemctl start eegsync")
    service.record()
    with service.one_gap(_DAEMON_DOWN, 2, "an upgrade" + (" that changes the schema" if has_older else "")):
        source = "/opt/eegsync-newer" if has_older else program
        service.machine.run(f"cp {source} {program}.new && sync && mv {program}.new {program} && systemctl restart eegsync")
    if not has_older:
        return
    copies = service.machine.run(f"stat --format='%n %a %U' {DATABASE}-before-*")
    if not copies.endswith(" 600 eegsync"):  # Keys of pairings may stand in it.
        raise MachineError(f"the copy of the database from before: {copies}")
    service.figures.append(f"copy: {copies.rsplit('/', 1)[-1]}")


def downgrade(service: Service) -> None:
    """An older program meets the database of a newer one: it refuses, names the way back, which works and loses nothing."""
    service.record()
    with service.one_gap(_DAEMON_DOWN, 120, "since the copy, after the way back"):
        service.machine.run("systemctl stop eegsync")
        # This program plays the older one: a newer one has copied the database, changed it, and recorded on.
        service.machine.run(f"cp --preserve {DATABASE} {DATABASE}-before-m9999_future")
        before = service.newest()
        service.machine.run("systemctl start eegsync")
        service.expect_more()
        service.machine.run("systemctl stop eegsync")
        newer = service.newest()
        service.machine.run(f"sqlite3 {DATABASE} \"INSERT INTO grdb_migrations VALUES ('m9999_future')\"")
        service.machine.attempt("systemctl start eegsync")
        wait_for(lambda: service.property("ActiveState") == "failed", 30, "it refuses")
        if service.property("ExecMainStatus") != "65":
            raise MachineError(f"exit code {service.property('ExecMainStatus')}")
        for text in ("`eegsync downgrade` goes back to", f"{DATABASE}-before-m9999_future"):
            service.expect_in_journal(text)
        service.machine.run("runuser -u eegsync -- eegsync downgrade")
        kept = service.machine.run(f"ls {DATABASE}-newer-*Z")
        rows = service.machine.run(f"sqlite3 -readonly {PATIENT} {kept} 'SELECT max(n) FROM sample WHERE stream_id = 1'")
        if int(rows) != newer[1] or service.newest() != before:
            raise MachineError(f"the newer database has sample {rows} of {newer[1]}, the older one {service.newest()}")
        service.machine.run("systemctl start eegsync")


def slow_upgrade(service: Service) -> None:
    """A schema change that takes longer than TimeoutStartSec=: systemd is asked for more time, and nothing is begun anew."""
    wait_for(lambda: service.property("ActiveState") == "active", 120, "the unit is active")
    # What will have to be copied. Written before anything is recorded: that takes longer than the change itself.
    service.machine.run(
        f'systemctl stop eegsync; sqlite3 {DATABASE} "CREATE TABLE ballast (x); '
        'INSERT INTO ballast SELECT zeroblob(1000000) FROM generate_series(1, 400)"; systemctl start eegsync',
        600,
    )
    service.record()
    # Enough for a start without a change of the schema, on a slow machine, too.
    limit = int(_start_seconds(service)) + 2
    with service.one_gap(_DAEMON_DOWN, 300, "a schema change of a database of 400 MB"):
        service.machine.run("systemctl stop eegsync; mkdir -p /run/systemd/system/eegsync.service.d")
        service.machine.run(f"printf '[Service]\\nTimeoutStartSec={limit}\\n' >/run/systemd/system/eegsync.service.d/slow.conf")
        # A step is taken back, as if an earlier version had written the database.
        service.machine.run(
            f'sqlite3 {DATABASE} "DROP TABLE early_start; DROP TABLE schema_snapshot; '
            "DELETE FROM grdb_migrations WHERE identifier = 'm0029_start'\""
        )
        service.machine.run("systemctl daemon-reload; systemctl start eegsync", 300)
    if service.property("NRestarts") != "0":
        raise MachineError(f"it was started anew {service.property('NRestarts')} times")
    took = _start_seconds(service)
    service.figures.append(f"the start took {took:.1f} s of TimeoutStartSec={limit}")
    if took < limit:
        raise MachineError("the change was not slow: nothing is shown")


def _start_seconds(service: Service) -> float:
    """How long the latest start took."""
    times = service.machine.run(
        "systemctl show eegsync --property=InactiveExitTimestampMonotonic,ActiveEnterTimestampMonotonic"
    )
    began, ended = sorted(int(line.split("=")[1]) for line in times.splitlines())
    return (ended - began) / 1e6


def full_disk(service: Service) -> None:
    """The disk is full for a while: what arrives is held in memory, and written when there is room."""
    service.record()
    with service.one_gap((), 0, "a full disk, emptied again"):
        service.machine.attempt("dd if=/dev/zero of=/var/ballast bs=1M; dd if=/dev/zero of=/var/ballast2 bs=4k", 300)
        service.expect_in_journal("full", 90)
        service.machine.run("rm /var/ballast /var/ballast2")
        service.expect_in_journal("the database can be written again")


def read_only(service: Service) -> None:
    """The file system is made read-only while it is written to, and writable again: nothing is missing."""
    service.record()
    with service.one_gap((), 0, "a file system that was read-only"):
        # An emergency remount: an ordinary one is refused while files are open for writing. Linux goes on to take what is
        # written into its memory, and says that it is on the disk.
        service.machine.run("echo 1 >/proc/sys/kernel/sysrq; echo u >/proc/sysrq-trigger")
        wait_for(lambda: "ro," in service.machine.run("grep ' / ' /proc/mounts"), 30, "it is read-only")
        service.expect_more()
        service.machine.run("mount -o remount,rw /")


def broken_card(service: Service) -> None:
    """The file system gives up after an error, for good: it is said, and after a reboot the recording goes on."""
    service.record()
    wait_for(lambda: service.newest()[1] > 256 * 20, 120, "twenty seconds are recorded")
    with service.one_gap(_REBOOTED, 180, "from the error of the card to samples of the next boot"):
        service.machine.run("mount -o remount,errors=remount-ro / && echo 1 >/sys/fs/ext4/ubda/trigger_fs_error")
        service.expect_in_journal("may not survive a power cut", 60)
        service.machine.cut_power()
        service.machine.boot()


def clock_step(service: Service) -> None:
    """The clock, years late as after a boot without a battery, is set: samples do not move, nothing is missing."""
    service.record()
    with service.one_gap((), 0, "a clock set by five years"):
        service.machine.run("date --set='+5 years'")
        query = "SELECT count(*) FROM clock_offset WHERE abs(step_ns) > 1e17"
        wait_for(
            lambda: service.machine.run(f"sqlite3 -readonly {PATIENT} {DATABASE} '{query}'") == "1", 60, "the step is recorded"
        )


def mask_bluetooth(service: Service) -> None:
    """`systemctl mask --now bluetooth` is obeyed and waited for; after the way back the recording goes on by itself."""
    put_in_the_air(service)
    wait_for(lambda: service.property("ActiveState") == "active", 120, "the unit is active")
    service.machine.run("eegsync record start left")
    wait_for(lambda: 1 in service.newest(), 120, "the headset is recorded")
    service.expect_more()
    with service.one_gap(("linkLost", "adapterUnavailable"), 120, "bluetoothd masked, and back"):
        service.machine.run("systemctl mask --now bluetooth")
        wait_for(lambda: "bluetoothd" in service.machine.attempt("eegsync status")[1], 60, "status says what is missing")
        if service.machine.run("systemctl is-active bluetooth || true") != "inactive":
            raise MachineError("bluetoothd runs although it is masked")
        service.machine.run("systemctl unmask bluetooth && systemctl start bluetooth")


def planted(service: Service) -> None:
    """A unit that does not restart: the checks must notice it."""
    service.record()
    service.machine.run("mkdir -p /run/systemd/system/eegsync.service.d")
    service.machine.run("printf '[Service]\\nRestart=no\\n' >/run/systemd/system/eegsync.service.d/no.conf")
    service.machine.run("systemctl daemon-reload; systemctl kill --signal=SEGV eegsync")
    try:
        service.expect_more(10)
    except MachineError:
        return
    raise MachineError("a planted defect was not noticed")


def sandbox(service: Service) -> None:
    """The unit's score, and what systemd says of its text."""
    score = service.machine.run("systemd-analyze security eegsync --no-pager | tail -n 1")
    service.figures.append(score.removeprefix("→ "))
    # What the sandbox must not take away: whether a person has switched the radio off.
    service.machine.run(
        "printf 'database: %s\\ncentral: {kind: kernel}\\nheadsets: [{name: left, model: muse}]\\n' "
        f"{DATABASE} >/etc/eegsync/eegsync.yaml; systemctl restart eegsync"
    )
    files = "ls -l /proc/$(systemctl show eegsync --property=MainPID --value)/fd"
    wait_for(lambda: "/dev/rfkill" in service.machine.attempt(files)[1], 60, "it has /dev/rfkill open")
    if float(score.split(":")[1].split()[0]) > 2.0:
        raise MachineError(score + service.machine.run("systemd-analyze security eegsync --no-pager"))
    noise = service.machine.run("journalctl --boot --output=cat | grep -F eegsync.service: || true").splitlines()
    unknown = [line for line in noise if "Unknown key" in line]
    version = service.machine.run("systemctl --version | head -n 1")
    service.figures.append(f"{len(unknown)} lines of unknown keys in the journal: {version}")
    if len(unknown) > 2:
        raise MachineError("\n".join(unknown))


ALL: dict[str, Callable[[Service], None]] = {
    scenario.__name__.replace("_", "-"): scenario
    for scenario in (
        sandbox,
        planted,
        boot,
        crash,
        crash_loop,
        hang,
        out_of_memory,
        stop,
        restart,
        broken_reload,
        upgrade,
        slow_upgrade,
        downgrade,
        power_cut,
        full_disk,
        read_only,
        broken_card,
        clock_step,
        mask_bluetooth,
        alerts,
        control,
        prune,
        neighbours,
    )
}
