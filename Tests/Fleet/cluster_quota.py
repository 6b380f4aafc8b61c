"""What a machine may fill of a centre whose blocks lie on the workers of a cluster, for cluster.py."""

import subprocess

from postgresql import Server


def fills_its_quota(coordinator: Server, nodes: list[Server]) -> None:
    """What a machine adds the coordinator counts, and refuses beyond the bound; on a worker it adds nothing at all."""

    def said(server: Server, statement: str) -> str:
        answer = subprocess.run(server.psql("pi-1"), input=statement, capture_output=True, text=True, check=False)
        return answer.stderr if answer.returncode else ""

    def used() -> int:
        return int(coordinator.value("SELECT used_kib('pi-1')"))

    values = int(
        coordinator.value(
            """SELECT sum(b.row_count * num_nonnulls(b.c1, b.c2, b.c3, b.c4, b.c5, b.c6, b.c7, b.c8)) FROM sample_block AS b
            WHERE b.stream = ANY (ARRAY(SELECT st.uuid FROM stream AS st JOIN recording AS r ON r.id = st.recording_id
                WHERE r.role = 'pi-1'))"""
        )
    )
    assert values * 4 // 1024 * 9 // 10 < used() < values * 4 // 1024 * 2 + 200, (values, used())
    stream = coordinator.value(
        """SELECT st.uuid FROM stream AS st JOIN recording AS r ON r.id = st.recording_id WHERE r.role = 'pi-1'
        ORDER BY st.id LIMIT 1"""
    )
    for number, (view, columns) in enumerate(
        (("incoming_block", "stream, first_n, row_count, c1"), ("incoming_patch", "stream, first_n, channel, values"))
    ):
        coordinator.rows("SELECT set_quota('pi-1', used_kib('pi-1') + 1024)")
        third = "4096" if number == 0 else "1"
        rows = "array_fill(7, array[4096]) FROM generate_series(0, 199) AS n"
        insertion = f"INSERT INTO {view} ({columns}) SELECT '{stream}', 900000000 + 4096 * n, {third}, {rows}"
        words = said(coordinator, insertion)
        assert "has used its quota of" in words, words
        # Refused again without more of it.
        before = used()
        assert "has used its quota of" in said(coordinator, insertion) and used() - before < 32, used() - before
    assert coordinator.value("SELECT count(*) FROM sample_block WHERE first_n >= 900000000") == "0"
    for shard, port in coordinator.rows("SELECT shard_name, nodeport FROM citus_shards WHERE table_name::text LIKE 'sample_%'"):
        worker = next(node for node in nodes if str(node.port) == port)
        words = said(worker, f"INSERT INTO {shard} SELECT * FROM {shard}")
        assert "permission denied" in words, f"{shard}: {words}"
    coordinator.rows("SELECT set_quota('pi-1', 244140625)")
