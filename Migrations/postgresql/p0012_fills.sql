-- A recording with what its twins (p0011_twins) have of samples that it lacks. Blocks stay as they were shipped, and nothing is
-- written: the union is what these views and functions say, with the rights of who asks, by the rules by which `eegsync merge`
-- fills a machine's own recording.

-- A machine may have a stream of such a name, and the centre the view of it.
DO $$
DECLARE
    item text;
BEGIN
    FOREACH item IN ARRAY ARRAY['twin_fill', 'filled_gap'] LOOP
        IF EXISTS (
            SELECT 1 FROM pg_class WHERE relname = item AND relnamespace = 'public'::regnamespace AND relkind = 'v'
                AND obj_description(oid, 'pg_class') = 'streams of this name') THEN
            EXECUTE format('DROP VIEW %I', item);
        END IF;
    END LOOP;
END
$$;

-- What a stream gets from another one: which n, of all channels (0) or one. `is_lack`: no value, but what rows that come from
-- there lack themselves.
CREATE TYPE twin_fill AS (
    channel integer,
    is_lack boolean,
    recording_id bigint,
    stream_id bigint,
    -- added to an n of the stream that is filled it is that of the same sample there
    shift bigint,
    ranges int8multirange
);

-- What a stream gets from its twins, one after another, in the order in which these came: what lies in its gaps, within the
-- epochs of both, and where a segment of that epoch gives a time here. Behind another boot of the host a segment goes back over
-- the gap before it by that boot's clock alone, of which it may become known later that it was wrong.
CREATE FUNCTION twin_fills(of_stream bigint) RETURNS SETOF twin_fill
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    own stream := (SELECT s FROM stream AS s WHERE s.id = of_stream);
    rows int8multirange := stored_rows(own.uuid, '{[-4611686018427387904,4611686018427387904)}');
    -- by channel, which n have a row and no value
    lacking int8multirange[] := ARRAY(
        SELECT CASE WHEN EXISTS (SELECT 1 FROM gap AS g WHERE g.stream_id = of_stream AND g.channel = k)
            THEN lacking_values(of_stream, k, rows) ELSE '{}' END
        FROM generate_series(1, own.channel_count) AS k ORDER BY k);
    t record;
    in_gaps int8multirange;
    timed int8multirange;
    there int8multirange;
    found int8multirange;
    part int8multirange;
BEGIN
    FOR t IN
        SELECT e.*, o.uuid AS other_uuid FROM twin_epoch AS e JOIN stream AS o ON o.id = e.other_stream_id
        WHERE e.stream_id = of_stream ORDER BY e.other_recording_id, e.epoch
    LOOP
        CONTINUE WHEN fill_obstacle(of_stream, t.other_stream_id, t.boot_identifier, t.is_only) IS NOT NULL;
        SELECT coalesce(range_agg(e.range), '{}'), coalesce(range_agg(e.range) FILTER (WHERE e.channel = 0), '{}')
        INTO timed, in_gaps FROM (
            SELECT g.channel, int8range(greatest(g.first_n, s.first_n, t.first_n),
                least(g.first_n + g.count - 1, s.last_n, t.last_n) + 1) AS range
            FROM gap AS g JOIN segment AS s ON s.stream_id = g.stream_id AND s.epoch = t.epoch
                AND s.first_n >= coalesce((SELECT max(p.first_n) FROM segment AS p
                    WHERE p.stream_id = g.stream_id AND p.first_n <= g.first_n), g.first_n)
                AND s.first_n < g.first_n + g.count AND s.last_n >= g.first_n
            WHERE g.stream_id = of_stream AND g.count > g.recovered AND g.cause <> 'notSent'
                AND g.first_n <= t.last_n AND g.first_n + g.count > t.first_n
                AND s.first_n <= t.last_n AND s.last_n >= t.first_n
                AND (s.first_n < g.first_n OR s.host_boot_id = (SELECT p.host_boot_id FROM segment AS p
                    WHERE p.stream_id = s.stream_id AND p.first_n < s.first_n ORDER BY p.first_n DESC LIMIT 1))) AS e;
        CONTINUE WHEN isempty(timed);
        there := moved(stored_rows(t.other_uuid, moved(int8multirange(range_merge(timed)), t.shift)), -t.shift);
        found := in_gaps * there - rows;
        IF NOT isempty(found) THEN
            RETURN NEXT (0, false, t.other_recording_id, t.other_stream_id, t.shift, found)::twin_fill;
            rows := rows + found;
        END IF;
        FOR k IN 1..own.channel_count LOOP
            part := lacking[k] * timed * there;
            IF NOT isempty(part) THEN
                part := moved(stored_values(t.other_uuid, k, moved(part, t.shift)), -t.shift);
            END IF;
            IF NOT isempty(part) THEN
                lacking[k] := lacking[k] - part;
                RETURN NEXT (k, false, t.other_recording_id, t.other_stream_id, t.shift, part)::twin_fill;
            END IF;
            CONTINUE WHEN isempty(found);
            part := moved(lacking_values(t.other_stream_id, k, moved(found, t.shift)), -t.shift);
            IF NOT isempty(part) THEN
                lacking[k] := lacking[k] + part;
                RETURN NEXT (k, true, t.other_recording_id, t.other_stream_id, t.shift, part)::twin_fill;
            END IF;
        END LOOP;
    END LOOP;
END
$$;

-- The gaps of a stream with what its twins have of them, and, behind these, what rows that come from there lack: as the ledger
-- of that recording says it.
CREATE FUNCTION filled_gaps(of_stream bigint, fills twin_fill[]) RETURNS TABLE (first_n bigint, count bigint, channel integer,
    cause text, recovered bigint, filled bigint, missing bigint, filled_from bigint[], noted_in bigint)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
    RETURN QUERY WITH ledger AS (
        SELECT g.first_n, g.count, g.channel, g.cause, g.recovered, st.recording_id AS noted_in,
            CASE WHEN g.count IS NULL THEN 'empty' ELSE int8range(g.first_n, g.first_n + g.count) END AS range
        FROM gap AS g JOIN stream AS st ON st.id = g.stream_id WHERE g.stream_id = of_stream
        UNION ALL
        SELECT lower(p.range), upper(p.range) - lower(p.range), f.channel, g.cause, 0, f.recording_id, p.range
        FROM unnest(fills) AS f CROSS JOIN LATERAL unnest(f.ranges) AS r
        JOIN gap AS g ON g.stream_id = f.stream_id AND g.channel = f.channel AND g.count > 0
        CROSS JOIN LATERAL (SELECT r * int8range(g.first_n - f.shift, g.first_n + g.count - f.shift) AS range) AS p
        WHERE f.is_lack AND NOT isempty(p.range))
    SELECT l.first_n, l.count, l.channel, l.cause, l.recovered, coalesce(e.filled, 0),
        l.count - l.recovered - coalesce(e.filled, 0), coalesce(e.filled_from, '{}'), l.noted_in
    FROM ledger AS l LEFT JOIN LATERAL (
        SELECT sum(p.filled)::bigint AS filled, array_agg(DISTINCT p.recording_id) AS filled_from FROM (
            SELECT f.recording_id, sample_count(f.ranges * int8multirange(l.range)) AS filled
            FROM unnest(fills) AS f WHERE f.channel = l.channel AND NOT f.is_lack) AS p
        WHERE p.filled > 0) AS e ON true;
END
$$;

-- Which streams have twins. Planned once, and not compiled, which for the view that asks takes longer than to read a study.
CREATE FUNCTION twin_streams() RETURNS TABLE (recording_id bigint, stream_id bigint)
LANGUAGE plpgsql STABLE ROWS 100 SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
    RETURN QUERY SELECT DISTINCT t.recording_id, t.stream_id FROM twin_epoch AS t;
END
$$;

-- The ledger of the union: what of each gap has arrived here (`recovered`), what comes from which recordings, and what is
-- missing still. `noted_in`: the recording whose ledger has it, another one where rows that come from there lack a channel.
CREATE VIEW filled_gap WITH (security_invoker = true) AS
WITH twin AS MATERIALIZED (SELECT t.recording_id, t.stream_id FROM twin_streams() AS t)
SELECT st.recording_id, st.name AS stream, st.bank, g.stream_id, g.first_n, g.count, g.channel, g.cause, g.recovered,
    0::bigint AS filled, g.count - g.recovered AS missing, '{}'::bigint[] AS filled_from, st.recording_id AS noted_in
FROM gap AS g JOIN stream AS st ON st.id = g.stream_id WHERE g.stream_id NOT IN (SELECT t.stream_id FROM twin AS t)
UNION ALL
SELECT t.recording_id, st.name, st.bank, t.stream_id, g.first_n, g.count, g.channel, g.cause, g.recovered, g.filled, g.missing,
    g.filled_from, g.noted_in
FROM twin AS t JOIN stream AS st ON st.id = t.stream_id
CROSS JOIN LATERAL filled_gaps(t.stream_id, ARRAY(SELECT f FROM twin_fills(t.stream_id) AS f)) AS g;

-- The rows of some n of a stream and of what it gets from its twins, raw: element i is channel i. Of each row, and each value,
-- the recording that has it.
CREATE FUNCTION filled_rows(of_stream bigint, from_n bigint, to_n bigint, fills twin_fill[])
RETURNS TABLE (n bigint, recording_id bigint, raw integer[], value_recording_ids bigint[])
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY WITH part AS MATERIALIZED (
        SELECT f.channel, f.recording_id, o.uuid, f.shift,
            moved(f.ranges * int8multirange(int8range(from_n, to_n + 1)), f.shift) AS wanted
        FROM unnest(fills) AS f JOIN stream AS o ON o.id = f.stream_id WHERE NOT f.is_lack),
    line AS (
        SELECT st.recording_id, s.* FROM stream AS st
        CROSS JOIN LATERAL stored_samples(st.uuid, int8multirange(int8range(from_n, to_n + 1))) AS s WHERE st.id = of_stream
        UNION ALL
        SELECT p.recording_id, s.n - p.shift, s.c1, s.c2, s.c3, s.c4, s.c5, s.c6, s.c7, s.c8
        FROM part AS p CROSS JOIN LATERAL stored_samples(p.uuid, p.wanted) AS s WHERE p.channel = 0),
    single AS (
        SELECT s.n - p.shift AS n, p.channel, p.recording_id, CASE p.channel WHEN 1 THEN s.c1 WHEN 2 THEN s.c2
            WHEN 3 THEN s.c3 WHEN 4 THEN s.c4 WHEN 5 THEN s.c5 WHEN 6 THEN s.c6 WHEN 7 THEN s.c7 ELSE s.c8 END AS value
        FROM part AS p CROSS JOIN LATERAL stored_samples(p.uuid, p.wanted) AS s WHERE p.channel > 0),
    late AS MATERIALIZED (
        SELECT a.n, array_agg(e.value ORDER BY k.channel) AS values, array_agg(e.recording_id ORDER BY k.channel) AS origins
        FROM (SELECT DISTINCT e.n FROM single AS e) AS a CROSS JOIN generate_series(1, 8) AS k (channel)
        LEFT JOIN single AS e ON e.n = a.n AND e.channel = k.channel GROUP BY a.n)
    SELECT l.n, l.recording_id,
        (ARRAY[coalesce(l.c1, e.values[1]), coalesce(l.c2, e.values[2]), coalesce(l.c3, e.values[3]),
            coalesce(l.c4, e.values[4]), coalesce(l.c5, e.values[5]), coalesce(l.c6, e.values[6]),
            coalesce(l.c7, e.values[7]), coalesce(l.c8, e.values[8])])[1:st.channel_count],
        (ARRAY[CASE WHEN l.c1 IS NULL THEN e.origins[1] ELSE l.recording_id END,
            CASE WHEN l.c2 IS NULL THEN e.origins[2] ELSE l.recording_id END,
            CASE WHEN l.c3 IS NULL THEN e.origins[3] ELSE l.recording_id END,
            CASE WHEN l.c4 IS NULL THEN e.origins[4] ELSE l.recording_id END,
            CASE WHEN l.c5 IS NULL THEN e.origins[5] ELSE l.recording_id END,
            CASE WHEN l.c6 IS NULL THEN e.origins[6] ELSE l.recording_id END,
            CASE WHEN l.c7 IS NULL THEN e.origins[7] ELSE l.recording_id END,
            CASE WHEN l.c8 IS NULL THEN e.origins[8] ELSE l.recording_id END])[1:st.channel_count]
    FROM line AS l JOIN stream AS st ON st.id = of_stream LEFT JOIN late AS e ON e.n = l.n;
END
$$;

-- As samples(), with what its twins have. `row_recording_id`: the recording that has the row; element i of
-- `value_recording_ids`: the one that has the value of channel i.
CREATE FUNCTION filled_samples(of_recording bigint, of_stream text, from_time timestamptz, to_time timestamptz,
    of_bank integer DEFAULT 0)
RETURNS TABLE (n bigint, unix_ns bigint, "time" text, value double precision[], row_recording_id bigint,
    value_recording_ids bigint[]) LANGUAGE sql STABLE AS $$
    WITH wanted AS (
        SELECT st.id, t.first_n, t.reference_n, t.reference_unix_ns, t.period_ns, lag(t.first_n) OVER w IS NULL AS is_first,
            lead(t.first_n) OVER w AS next_n, (extract(epoch FROM from_time) * 1000000000)::bigint AS from_ns,
            (extract(epoch FROM to_time) * 1000000000)::bigint AS to_ns
        FROM stream AS st JOIN segment_time AS t ON t.stream_id = st.id
        WHERE st.recording_id = of_recording AND st.name = of_stream AND st.bank = of_bank
        WINDOW w AS (ORDER BY t.first_n)),
    -- Bounds that a number can be added to.
    piece AS (
        SELECT id, reference_n, reference_unix_ns, period_ns, from_ns, to_ns,
            greatest(CASE WHEN is_first THEN -4611686018427387904 ELSE first_n END,
                reference_n + floor((from_ns - reference_unix_ns) / period_ns)::bigint) AS low,
            least(coalesce(next_n - 1, 4611686018427387903),
                reference_n + ceil((to_ns - reference_unix_ns) / period_ns)::bigint) AS high
        FROM wanted),
    fill AS MATERIALIZED (
        SELECT e.id, ARRAY(SELECT f FROM twin_fills(e.id) AS f) AS fills FROM (SELECT DISTINCT id FROM wanted) AS e),
    scale AS MATERIALIZED (
        SELECT array_agg(c.scale ORDER BY c.number) AS scales, array_agg(c."offset" ORDER BY c.number) AS offsets
        FROM channel AS c WHERE c.stream_id = (SELECT f.id FROM fill AS f))
    SELECT s.n, s.unix_ns, utc_text(s.unix_ns),
        (SELECT array_agg(k.scales[i] * s.raw[i] + k.offsets[i] ORDER BY i) FROM generate_subscripts(s.raw, 1) AS i),
        s.recording_id, s.value_recording_ids
    FROM (
        SELECT r.*, p.from_ns, p.to_ns, p.reference_unix_ns + nearest((r.n - p.reference_n) * p.period_ns) AS unix_ns
        FROM piece AS p JOIN fill AS f ON f.id = p.id CROSS JOIN LATERAL filled_rows(p.id, p.low, p.high, f.fills) AS r
        WHERE p.low <= p.high) AS s
    CROSS JOIN scale AS k
    WHERE s.unix_ns >= s.from_ns AND s.unix_ns < s.to_ns
    ORDER BY s.n
$$;

-- Compares the union of a recording and its twins, row by row, with its ledger: of each stream how many rows are there, how
-- many of them come from twins, and how many samples are missing still; rows and missing ones are its extent. Without a finding
-- it holds. That what each recording has is what its machine has written, its digests prove (`eegsync fetch`).
CREATE FUNCTION audit_filled(of_recording bigint) RETURNS TABLE (stream_id bigint, stream text, bank integer, first_n bigint,
    last_n bigint, rows bigint, filled bigint, missing bigint, findings text[])
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    own stream;
    fills twin_fill[];
    there int8multirange;
    -- by channel, which rows have no value
    lacking int8multirange[];
    ledger int8multirange;
BEGIN
    FOR own IN SELECT * FROM stream AS st WHERE st.recording_id = of_recording ORDER BY st.id LOOP
        stream_id := own.id;
        stream := own.name;
        bank := own.bank;
        fills := ARRAY(SELECT f FROM twin_fills(own.id) AS f);
        -- As they are read: runs of consecutive n.
        WITH line AS MATERIALIZED (
            SELECT r.n, r.raw, r.recording_id <> of_recording AS is_filled
            FROM filled_rows(own.id, -4611686018427387904, 4611686018427387903, fills) AS r),
        run AS (
            SELECT e.channel, int8range(min(e.n), max(e.n) + 1) AS range FROM (
                SELECT a.channel, a.n, a.n - row_number() OVER (PARTITION BY a.channel ORDER BY a.n) AS island FROM (
                    SELECT 0 AS channel, l.n FROM line AS l
                    UNION ALL SELECT k, l.n FROM line AS l CROSS JOIN generate_series(1, own.channel_count) AS k
                    WHERE l.raw[k] IS NULL) AS a) AS e
            GROUP BY e.channel, e.island)
        SELECT (SELECT count(*) FROM line), (SELECT count(*) FROM line AS l WHERE l.is_filled),
            (SELECT coalesce(range_agg(r.range), '{}') FROM run AS r WHERE r.channel = 0),
            ARRAY(SELECT coalesce((SELECT range_agg(r.range) FROM run AS r WHERE r.channel = k), '{}')
                FROM generate_series(1, own.channel_count) AS k ORDER BY k)
        INTO rows, filled, there, lacking;
        WITH noted AS MATERIALIZED (
            SELECT g.channel, g.first_n, g.count, g.missing, int8multirange(int8range(g.first_n, g.first_n + g.count)) AS range
            FROM filled_gaps(own.id, fills) AS g WHERE g.count > 0),
        whole AS (
            SELECT k AS channel, coalesce(sum(g.missing), 0)::bigint AS missing, coalesce(range_agg(g.range), '{}') AS ranges
            FROM generate_series(0, own.channel_count) AS k LEFT JOIN noted AS g ON g.channel = k GROUP BY k)
        SELECT w.missing, w.ranges, ARRAY(
            SELECT format('the gap of channel %s at %s says %s missing of %s, but %s are', e.channel, e.first_n, e.missing,
                e.count, e.found)
            FROM (
                SELECT g.*, CASE g.channel WHEN 0 THEN g.count - sample_count(there * g.range)
                    ELSE sample_count(lacking[g.channel] * g.range) END AS found
                FROM noted AS g) AS e WHERE e.found <> e.missing
            UNION ALL SELECT format('rows %s to %s lack channel %s, which is not in the ledger', lower(r), upper(r) - 1,
                c.channel)
            FROM whole AS c CROSS JOIN LATERAL unnest(lacking[c.channel] - c.ranges) AS r WHERE c.channel > 0)
        INTO missing, ledger, findings FROM whole AS w WHERE w.channel = 0;
        first_n := lower(there + ledger);
        last_n := upper(there + ledger) - 1;
        findings := ARRAY(
            SELECT format('%s rows and %s missing samples are not the %s from %s to %s', rows, missing, last_n - first_n + 1,
                first_n, last_n) WHERE rows + missing <> last_n - first_n + 1
            UNION ALL SELECT format('%s rows or values that its machine has are not here', c.count)
            FROM rows_to_come(own.id) AS c (count) WHERE c.count > 0
            UNION ALL SELECT format('%s rows have only %s different n', rows, sample_count(there))
            WHERE rows <> sample_count(there)
            UNION ALL SELECT format('samples %s to %s are neither there nor in the ledger', lower(r), upper(r) - 1)
            FROM unnest(int8multirange(range_merge(there + ledger)) - (there + ledger)) AS r) || findings;
        RETURN NEXT;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION twin_fills, twin_streams, filled_gaps, filled_rows, filled_samples, audit_filled FROM PUBLIC;
GRANT EXECUTE ON FUNCTION twin_fills, twin_streams, filled_gaps, filled_rows, filled_samples, audit_filled
    TO eegsync_read, eegsync_admin;
GRANT SELECT ON filled_gap TO eegsync_read, eegsync_admin;
