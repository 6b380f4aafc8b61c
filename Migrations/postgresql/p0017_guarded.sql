-- What one machine sends spoils nothing for others: no number ends a query over its study, no word of it stands in another
-- study, and what people corrected is not put back by an older database, or by a process that was late. A machine may get
-- another role. And who erases a participant learns of whatever has the name still.

-- A stream at 1 MHz reaches 2^52 in 140 years; an instant lies within 126 years of what it counts from. Sums of a few of these
-- fit. The name of a constraint is what a machine is answered, so it says the bound. Rows beyond it that are there already are
-- none of eegsync's own: they go, or, where others need the row, their number becomes one within it.
DO $$
DECLARE
    n_bound constant text := 'BETWEEN -4503599627370496 AND 4503599627370496';
    ns_bound constant text := 'BETWEEN -4000000000000000000 AND 4000000000000000000';
    item record;
    found bigint;
BEGIN
    -- Of a cluster, functions that its workers have cannot be changed after shards were by several connections at once.
    IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN
        PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true);
    END IF;
    FOR item IN
        SELECT e.name, c AS column_name, e.words, coalesce(e.condition, format('%I %s', c,
            CASE WHEN e.words = 'within_2_to_52' THEN n_bound ELSE ns_bound END)) AS condition, e.mend
        FROM (VALUES
            ('epoch', 'first_n first_index', 'within_2_to_52', NULL, NULL),
            ('epoch', 'boottime_ns', 'within_4e18', NULL, NULL),
            ('segment', 'first_n last_n reference_n', 'within_2_to_52', NULL, NULL),
            ('segment', 'reference_boottime_ns', 'within_4e18', NULL, NULL),
            ('segment', 'period_ns', 'below_1e18', 'period_ns < 1e18', NULL),
            ('gap', 'first_n count recovered', 'within_2_to_52', NULL, NULL),
            ('gap', 'boottime_ns', 'within_4e18', NULL, NULL),
            ('block', 'first_n last_n', 'within_2_to_52', NULL, NULL),
            ('block', 'row_count', 'within_2_to_31', 'row_count BETWEEN 0 AND 2147483648', NULL),
            ('clock_offset', 'offset_ns', 'within_2_to_62', 'abs(offset_ns::numeric) < 4611686018427387904', NULL),
            ('annotation', 'n', 'within_2_to_52', NULL, 'n = NULL'),
            ('annotation', 'boottime_ns', 'within_4e18', NULL, 'boottime_ns = 0'),
            ('link', 'began_boottime_ns', 'within_4e18', NULL, 'began_boottime_ns = 0'),
            ('link', 'ended_boottime_ns', 'within_4e18', NULL, 'ended_boottime_ns = NULL'),
            ('recording', 'requested_boottime_ns', 'within_4e18', NULL, 'requested_boottime_ns = 0'),
            ('recording', 'started_boottime_ns', 'within_4e18', NULL, 'started_boottime_ns = 0'),
            ('recording', 'stop_requested_boottime_ns', 'within_4e18', NULL, 'stop_requested_boottime_ns = 0'),
            ('recording', 'stopped_boottime_ns', 'within_4e18', NULL, 'stopped_boottime_ns = 0'),
            ('stream', 'sampling_frequency', 'from_1e_6_to_1e9', 'sampling_frequency BETWEEN 1e-6 AND 1e9',
                'sampling_frequency = greatest(1e-6, least(1e9, sampling_frequency))'),
            ('stream', 'samples_per_count', 'from_1_to_2_to_20', 'samples_per_count BETWEEN 1 AND 1048576',
                'samples_per_count = 1'),
            ('stream', 'counter_modulus', 'from_1_to_2_to_40', 'counter_modulus BETWEEN 1 AND 1099511627776',
                'counter_modulus = NULL'),
            ('channel', 'scale', 'within_1e100', 'abs(scale) <= 1e100', 'scale = 1'),
            ('channel', 'offset', 'within_1e100', 'abs("offset") <= 1e100', '"offset" = 0'),
            ('shipment', 'done_n', 'within_2_to_52', NULL, 'done_n = NULL'),
            ('shipment', 'head_first_n', 'up_to_its_end_within_2_to_52',
                'head_first_n BETWEEN -4503599627370496 AND head_last_n AND head_last_n <= 4503599627370496 '
                'AND coalesce(lower(older_heads), 0) >= -4503599627370496',
                'head_first_n = NULL, head_last_n = NULL, older_heads = ''{}''')
        ) AS e (name, columns, words, condition, mend)
        CROSS JOIN LATERAL regexp_split_to_table(e.columns, ' ') WITH ORDINALITY AS s (c, number)
    LOOP
        EXECUTE format(CASE WHEN item.mend IS NULL THEN 'DELETE FROM %1$I WHERE NOT (%2$s)'
            ELSE 'UPDATE %1$I SET %3$s WHERE NOT (%2$s)' END, item.name, item.condition, item.mend);
        GET DIAGNOSTICS found = ROW_COUNT;
        IF found > 0 THEN
            RAISE WARNING '% rows of % had a % that no machine records: %', found, item.name, item.column_name,
                CASE WHEN item.mend IS NULL THEN 'they are gone' ELSE 'now ' || item.mend END;
        END IF;
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%s)', item.name, item.column_name || '_' || item.words,
            item.condition);
    END LOOP;
    -- Blocks of samples are many: those of a stream that lie beyond are found by their key, and nothing else is read.
    FOR item IN SELECT st.uuid FROM stream AS st LOOP
        DELETE FROM sample_block AS b WHERE b.stream = item.uuid AND b.first_n > 4503599627370496;
        DELETE FROM sample_block AS b WHERE b.stream = item.uuid AND b.first_n < -4503599627370496;
        DELETE FROM sample_patch AS p WHERE p.stream = item.uuid
            AND p.first_n NOT BETWEEN -4503599627370496 AND 4503599627370496;
    END LOOP;
    EXECUTE format('ALTER TABLE sample_block ADD CONSTRAINT first_n_within_2_to_52 CHECK (first_n %s) NOT VALID', n_bound);
    EXECUTE format('ALTER TABLE sample_patch ADD CONSTRAINT first_n_within_2_to_52 CHECK (first_n %s) NOT VALID', n_bound);
    ALTER TABLE sample_block ADD CONSTRAINT at_most_4096_values CHECK (greatest(cardinality(c1), cardinality(c2),
        cardinality(c3), cardinality(c4), cardinality(c5), cardinality(c6), cardinality(c7), cardinality(c8))
        <= 4096) NOT VALID;
END
$$;

-- As before; NULL for what is further than 19 years away, which with an instant and a clock may be no number any more.
CREATE OR REPLACE FUNCTION nearest(value double precision) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN abs(value) < 6e17 THEN CASE WHEN value < 0 THEN ceil(value - 0.5) ELSE floor(value + 0.5) END END::bigint
$$;
CREATE OR REPLACE FUNCTION mapped_unix_ns(of_n bigint, first_n bigint[], reference_n bigint[], reference_unix_ns bigint[],
    period_ns double precision[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 2 AS $$
DECLARE
    i integer := greatest(1, width_bucket(of_n, first_n));
    distance double precision := (of_n - reference_n[i]) * period_ns[i];
BEGIN
    IF abs(distance) >= 6e17 THEN RETURN NULL; END IF;
    RETURN reference_unix_ns[i] + CASE WHEN distance < 0 THEN ceil(distance - 0.5) ELSE floor(distance + 0.5) END::bigint;
END
$$;
-- A sum of numbers that each fit; NULL where it does not.
CREATE FUNCTION fitting(total numeric) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$SELECT CASE WHEN abs(total) < 9223372036854775807 THEN total END::bigint$$;

-- As before, with these, and a difference of two instants that may be no number of 64 bits.
CREATE OR REPLACE VIEW gap_between_boots WITH (security_invoker = true) AS
SELECT stream_id, first_n, start_unix_ns, end_unix_ns,
    CASE WHEN is_synchronised AND end_unix_ns >= start_unix_ns
        THEN nearest((end_unix_ns::numeric - start_unix_ns)::double precision / 1e9 * sampling_frequency) END AS missing
FROM (
    SELECT g.stream_id, g.first_n, st.sampling_frequency,
        ka.offset_ns + a.reference_boottime_ns + nearest((g.first_n - a.reference_n) * a.period_ns) AS start_unix_ns,
        CASE WHEN b.first_n IS NOT NULL
            THEN kb.offset_ns + b.reference_boottime_ns + nearest((g.first_n - b.reference_n) * b.period_ns)
            ELSE kr.offset_ns + r.stop_requested_boottime_ns END AS end_unix_ns,
        ka.is_synchronised = 1 AND CASE WHEN b.first_n IS NOT NULL THEN kb.is_synchronised ELSE kr.is_synchronised END = 1
            AS is_synchronised
    FROM gap AS g
    JOIN stream AS st ON st.id = g.stream_id
    JOIN recording AS r ON r.id = st.recording_id
    LEFT JOIN segment AS a ON a.stream_id = g.stream_id AND a.first_n = (
        SELECT max(s.first_n) FROM segment AS s WHERE s.stream_id = g.stream_id AND s.first_n < g.first_n)
    LEFT JOIN host_boot_clock AS ka ON ka.host_boot_id = a.host_boot_id
    LEFT JOIN segment AS b ON b.stream_id = g.stream_id AND b.first_n = (
        SELECT min(s.first_n) FROM segment AS s WHERE s.stream_id = g.stream_id AND s.first_n >= g.first_n)
    LEFT JOIN host_boot_clock AS kb ON kb.host_boot_id = b.host_boot_id
    LEFT JOIN host_boot_clock AS kr ON kr.host_boot_id = r.stop_requested_host_boot_id
    WHERE g.count = 0) AS e;

CREATE OR REPLACE VIEW stream_overview WITH (security_invoker = true) AS
SELECT recording_id, stream_id, stream, bank, view_name, sampling_frequency, channels, first_n, last_n,
    fitting(missing_n::numeric + missing_between_boots) AS missing, recovered, gaps, open_gap_first_n, start_unix_ns,
    end_unix_ns,
    fitting(last_n::numeric - first_n + 1 - missing_n) AS rows,
    (last_n::numeric - first_n + 1 + missing_between_boots)::double precision / sampling_frequency AS duration_seconds,
    utc_text(start_unix_ns) AS start_time, utc_text(end_unix_ns) AS end_time, unknown_gaps, loss_detection
FROM (
    SELECT e.*,
        (SELECT t.reference_unix_ns + nearest((e.first_n - t.reference_n) * t.period_ns)
        FROM segment_time AS t WHERE t.stream_id = e.stream_id ORDER BY t.first_n LIMIT 1) AS start_unix_ns,
        (SELECT t.reference_unix_ns + nearest((e.last_n - t.reference_n) * t.period_ns)
        FROM segment_time AS t WHERE t.stream_id = e.stream_id ORDER BY t.first_n DESC LIMIT 1) AS end_unix_ns
    FROM (
        SELECT st.recording_id, st.id AS stream_id, st.name AS stream, st.bank, st.view_name, st.sampling_frequency,
            CASE WHEN st.counter_modulus IS NOT NULL THEN 'counter' ELSE coalesce(
                (SELECT means FROM loss_detection WHERE stream_id = st.id ORDER BY first_n DESC LIMIT 1), 'nothing') END
                AS loss_detection,
            (SELECT string_agg(name, ' ' ORDER BY number) FROM channel WHERE stream_id = st.id) AS channels,
            least(lower(stored_extent(st.id)),
                (SELECT min(first_n) FROM gap WHERE stream_id = st.id AND channel = 0 AND count > 0)) AS first_n,
            greatest(upper(stored_extent(st.id)) - 1,
                (SELECT max(first_n + count - 1) FROM gap WHERE stream_id = st.id AND channel = 0 AND count > 0)) AS last_n,
            (SELECT fitting(coalesce(sum(count - recovered), 0)) FROM gap WHERE stream_id = st.id AND channel = 0) AS missing_n,
            (SELECT fitting(coalesce(sum(b.missing), 0)) FROM gap_between_boots AS b WHERE b.stream_id = st.id)
                AS missing_between_boots,
            (SELECT count(*) FROM gap_between_boots AS b WHERE b.stream_id = st.id AND b.missing IS NULL)
                + (SELECT count(*) FROM gap WHERE stream_id = st.id AND channel = 0 AND count IS NULL) AS unknown_gaps,
            (SELECT fitting(coalesce(sum(recovered), 0)) FROM gap WHERE stream_id = st.id AND channel = 0) AS recovered,
            (SELECT count(*) FROM gap WHERE stream_id = st.id AND channel = 0) AS gaps,
            (SELECT first_n FROM gap WHERE stream_id = st.id AND channel = 0 AND count IS NULL) AS open_gap_first_n
        -- GROUP BY: the ends are looked up once for a stream, and not for each column that is made of them.
        FROM stream AS st
        GROUP BY st.id, st.recording_id, st.name, st.bank, st.view_name, st.sampling_frequency, st.counter_modulus, st.uuid)
        AS e) AS f;

CREATE OR REPLACE VIEW recording_overview WITH (security_invoker = true) AS
SELECT r.id AS recording_id, h.name AS headset, h.model, h.serial_number, r.label, r.subject, r.task,
    CASE WHEN r.stopped_boottime_ns IS NOT NULL THEN 'stopped'
        WHEN r.desired_state = 'stopped' THEN 'stopping'
        WHEN r.started_boottime_ns IS NULL THEN 'waiting'
        ELSE 'recording' END AS state,
    utc_text(o.start_unix_ns) AS start_time, utc_text(o.end_unix_ns) AS end_time,
    (o.end_unix_ns::numeric - o.start_unix_ns)::double precision / 1e9 AS duration_seconds, o.view_names,
    coalesce(o.rows, 0) AS rows,
    coalesce(o.missing, 0) AS missing, coalesce(o.recovered, 0) AS recovered, coalesce(o.gaps, 0) AS gaps,
    o.start_unix_ns, o.end_unix_ns,
    requested.offset_ns + r.requested_boottime_ns AS requested_unix_ns,
    stopped.offset_ns + r.stopped_boottime_ns AS stopped_unix_ns,
    t.name AS study, r.uuid AS uuid
FROM recording AS r
JOIN headset AS h ON h.id = r.headset_id
JOIN study AS t ON t.id = r.study_id
JOIN host_boot_clock AS requested ON requested.host_boot_id = r.requested_host_boot_id
LEFT JOIN host_boot_clock AS stopped ON stopped.host_boot_id = r.stopped_host_boot_id
LEFT JOIN LATERAL (
    SELECT min(s.start_unix_ns) AS start_unix_ns, max(s.end_unix_ns) AS end_unix_ns,
        string_agg(DISTINCT s.view_name, ',') AS view_names, fitting(sum(s.rows)) AS rows,
        fitting(sum(s.missing)) AS missing, fitting(sum(s.recovered)) AS recovered, fitting(sum(s.gaps)) AS gaps
    FROM stream_overview AS s WHERE s.recording_id = r.id) AS o ON true;

CREATE OR REPLACE VIEW headset_progress WITH (security_invoker = true) AS
SELECT DISTINCT ON (r.role, h.name) r.role, h.name, r.id AS recording_id, p.newest_unix_ns, p.backlog_seconds, p.gaps_today,
    p.missing_today_seconds
FROM headset AS h
JOIN LATERAL (SELECT * FROM recording AS r WHERE r.headset_id = h.id ORDER BY r.id DESC LIMIT 1) AS r ON true
LEFT JOIN LATERAL (
    SELECT max(sample_unix_ns(st.id, coalesce(s.head_last_n, s.done_n))) AS newest_unix_ns,
        max((s.head_first_n - 1 - coalesce(
            s.done_n,
            (SELECT b.first_n - 1 FROM block AS b WHERE b.stream_id = st.id AND b.chain = 'live' ORDER BY b.number LIMIT 1),
            lower(s.older_heads) - 1, s.head_first_n - 1)
            - (SELECT coalesce(sum(upper(o) - lower(o)), 0)::bigint FROM unnest(s.older_heads) AS o))
            / st.sampling_frequency) AS backlog_seconds,
        max(g.gaps) AS gaps_today, max(g.missing / st.sampling_frequency) AS missing_today_seconds
    FROM stream AS st
    LEFT JOIN shipment AS s ON s.stream = st.uuid
    LEFT JOIN LATERAL (
        SELECT count(*) AS gaps, fitting(coalesce(sum(e.count - e.recovered), 0)) AS missing
        FROM gap AS e JOIN host_boot_clock AS k ON k.host_boot_id = e.host_boot_id
        WHERE e.stream_id = st.id AND e.channel = 0
            AND k.offset_ns + e.boottime_ns >= (extract(epoch FROM date_trunc('day', now())) * 1000000000)::bigint
    ) AS g ON true
    WHERE st.recording_id = r.id) AS p ON true
ORDER BY r.role, h.name, r.id DESC;

CREATE OR REPLACE FUNCTION is_whole(of_stream bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
    own stream := (SELECT s FROM stream AS s WHERE s.id = of_stream);
    rows int8multirange := stored_rows(own.uuid, '{[-4611686018427387904,4611686018427387904)}');
    ledger int8multirange;
    counts numeric;
    found numeric;
BEGIN
    SELECT coalesce(range_agg(int8range(g.first_n, g.first_n + g.count)), '{}'), coalesce(sum(g.count), 0),
        coalesce(sum(g.recovered), 0) INTO ledger, counts, found
    FROM gap AS g WHERE g.stream_id = of_stream AND g.channel = 0 AND g.count > 0;
    IF sample_count(ledger) <> counts OR sample_count(rows * ledger) <> found
        OR NOT isempty(int8multirange(range_merge(rows + ledger)) - (rows + ledger))
        OR rows_to_come(of_stream) > 0 THEN RETURN false;
    END IF;
    RETURN NOT EXISTS (
        SELECT 1 FROM gap AS g WHERE g.stream_id = of_stream AND g.channel > 0 GROUP BY g.channel
        HAVING sum(g.count - g.recovered) <> sample_count(lacking_values(of_stream, g.channel, rows)));
END
$$;

-- What a gap's cause means is what its machine says of it, bounded, beside the gap: whoever reads the gap reads that, and
-- nobody else. It was one table for all studies, in which the first word held for ever. That is a view now, of the gaps that
-- one reads.
ALTER TABLE gap ADD COLUMN meaning text;
UPDATE gap SET meaning = left(w.meaning, 500) FROM gap_cause AS w WHERE w.cause = gap.cause;
ALTER TABLE gap DROP CONSTRAINT gap_cause_fkey, ADD CONSTRAINT meaning_up_to_500_characters CHECK (length(meaning) <= 500);
CREATE OR REPLACE VIEW gap_time WITH (security_invoker = true) AS
SELECT recording_id, stream, bank, view_name, stream_id, first_n, last_n, count, channel, channel_name, cause, meaning,
    recovered, missing, sampling_frequency, noticed_unix_ns, start_unix_ns, end_unix_ns,
    utc_text(start_unix_ns) AS start_time, utc_text(end_unix_ns) AS end_time,
    CASE WHEN count > 0 THEN count / sampling_frequency ELSE missing / sampling_frequency END AS duration_seconds,
    certainty, uncertainty
FROM (
    SELECT st.recording_id, st.name AS stream, st.bank, st.view_name, g.stream_id, g.first_n, g.first_n + g.count - 1 AS last_n,
        g.count, g.channel,
        (SELECT c.name FROM channel AS c WHERE c.stream_id = g.stream_id AND c.number = g.channel) AS channel_name,
        g.cause, g.meaning, g.recovered,
        CASE WHEN g.count = 0 THEN z.missing ELSE g.count - g.recovered END AS missing,
        st.sampling_frequency, k.offset_ns + g.boottime_ns AS noticed_unix_ns,
        CASE WHEN g.count IS NULL THEN 'unknown' WHEN g.count = 0 AND z.missing IS NULL THEN 'unknown' ELSE g.certainty END
            AS certainty,
        CASE WHEN g.count = 0 THEN CASE WHEN z.missing IS NOT NULL THEN nearest(0.1 * st.sampling_frequency) + 1 END
            ELSE g.uncertainty END AS uncertainty,
        (SELECT k2.offset_ns + s.reference_boottime_ns + nearest((g.first_n - s.reference_n) * s.period_ns)
        FROM segment AS s JOIN host_boot_clock AS k2 ON k2.host_boot_id = s.host_boot_id
        WHERE s.stream_id = g.stream_id AND s.first_n = coalesce(
            (SELECT max(first_n) FROM segment WHERE stream_id = g.stream_id AND first_n < g.first_n),
            (SELECT min(first_n) FROM segment WHERE stream_id = g.stream_id))) AS start_unix_ns,
        CASE WHEN g.count = 0 THEN z.end_unix_ns
        ELSE (SELECT k2.offset_ns + s.reference_boottime_ns + nearest((g.first_n + g.count - s.reference_n) * s.period_ns)
        FROM segment AS s JOIN host_boot_clock AS k2 ON k2.host_boot_id = s.host_boot_id
        WHERE s.stream_id = g.stream_id AND s.first_n <= g.first_n + g.count
        ORDER BY s.first_n DESC LIMIT 1) END AS end_unix_ns
    FROM gap AS g
    JOIN stream AS st ON st.id = g.stream_id
    JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id
    LEFT JOIN gap_between_boots AS z ON g.count = 0 AND z.stream_id = g.stream_id AND z.first_n = g.first_n) AS e;
DO $$
BEGIN
    DROP TABLE gap_cause;
    CREATE VIEW gap_cause WITH (security_invoker = true) AS SELECT DISTINCT cause, meaning FROM gap WHERE meaning IS NOT NULL;
    GRANT SELECT ON gap_cause TO eegsync_read, eegsync_admin;
EXCEPTION
    -- A view that somebody has made.
    WHEN dependent_objects_still_exist THEN
        DELETE FROM gap_cause;
        RAISE WARNING 'the table gap_cause, which other views read, is empty now: what a cause means is gap.meaning';
END
$$;

CREATE OR REPLACE FUNCTION ship_stream_changes(own_recording bigint, d jsonb, gone jsonb) RETURNS void LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint;
BEGIN
    SELECT k.id INTO own FROM stream AS k
    WHERE k.uuid = (d ->> 'uuid')::uuid AND k.recording_id = own_recording AND k.view_name = d ->> 'view_name';
    IF own IS NULL THEN
        INSERT INTO stream (uuid, recording_id, position, name, bank, sampling_frequency, samples_per_count, counter_modulus,
            channel_count, view_name)
        VALUES ((d ->> 'uuid')::uuid, own_recording, (d ->> 'position')::integer, d ->> 'name', (d ->> 'bank')::integer,
            (d ->> 'sampling_frequency')::double precision, (d ->> 'samples_per_count')::integer,
            (d ->> 'counter_modulus')::bigint, (d ->> 'channel_count')::integer, d ->> 'view_name')
        ON CONFLICT (uuid) DO UPDATE SET view_name = excluded.view_name WHERE stream.recording_id = own_recording
        RETURNING id INTO own;
    END IF;
    IF own IS NULL THEN
        RAISE EXCEPTION 'the stream % is of another recording', d ->> 'uuid' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF gone IS NOT NULL THEN
        DELETE FROM channel WHERE stream_id = own AND number IN (
            SELECT (e ->> 'number')::integer FROM jsonb_array_elements(gone -> 'channel') AS e);
        DELETE FROM epoch WHERE stream_id = own AND number IN (
            SELECT (e ->> 'number')::bigint FROM jsonb_array_elements(gone -> 'epoch') AS e);
        DELETE FROM segment WHERE stream_id = own AND first_n IN (
            SELECT (e ->> 'first_n')::bigint FROM jsonb_array_elements(gone -> 'segment') AS e);
        DELETE FROM gap WHERE stream_id = own AND (channel, first_n) IN (
            SELECT (e ->> 'channel')::integer, (e ->> 'first_n')::bigint FROM jsonb_array_elements(gone -> 'gap') AS e);
        DELETE FROM loss_detection WHERE stream_id = own AND first_n IN (
            SELECT (e ->> 'first_n')::bigint FROM jsonb_array_elements(gone -> 'loss_detection') AS e);
    END IF;
    IF d ? 'channel' THEN
        INSERT INTO channel SELECT own, c.number, c.name, c.type, c.unit, c.scale, c."offset", c.raw_minimum, c.raw_maximum
        FROM jsonb_to_recordset(d -> 'channel') AS c (number integer, name text, type text, unit text, scale double precision,
            "offset" double precision, raw_minimum bigint, raw_maximum bigint)
        ON CONFLICT (stream_id, number) DO UPDATE SET name = excluded.name, type = excluded.type, unit = excluded.unit,
            scale = excluded.scale, "offset" = excluded."offset", raw_minimum = excluded.raw_minimum,
            raw_maximum = excluded.raw_maximum;
    END IF;
    IF d ? 'epoch' THEN
        INSERT INTO epoch SELECT own, e.number, e.boot_identifier, e.first_n, e.first_index, own_host_boot(e.host_boot),
            e.boottime_ns
        FROM jsonb_to_recordset(d -> 'epoch') AS e (number bigint, boot_identifier bigint, first_n bigint, first_index bigint,
            host_boot text, boottime_ns bigint)
        ON CONFLICT (stream_id, number) DO UPDATE SET boot_identifier = excluded.boot_identifier, first_n = excluded.first_n,
            first_index = excluded.first_index, host_boot_id = excluded.host_boot_id, boottime_ns = excluded.boottime_ns;
    END IF;
    IF d ? 'segment' THEN
        INSERT INTO segment SELECT own, s.first_n, s.last_n, s.epoch, own_host_boot(s.host_boot), s.reference_n,
            s.reference_boottime_ns, s.period_ns, s.residual_ns, s.observation_count, s.uncertainty_ns
        FROM jsonb_to_recordset(d -> 'segment') AS s (first_n bigint, last_n bigint, epoch bigint, host_boot text,
            reference_n bigint, reference_boottime_ns bigint, period_ns double precision, residual_ns double precision,
            observation_count bigint, uncertainty_ns double precision)
        ON CONFLICT (stream_id, first_n) DO UPDATE SET last_n = excluded.last_n, epoch = excluded.epoch,
            host_boot_id = excluded.host_boot_id, reference_n = excluded.reference_n,
            reference_boottime_ns = excluded.reference_boottime_ns, period_ns = excluded.period_ns,
            residual_ns = excluded.residual_ns, observation_count = excluded.observation_count,
            uncertainty_ns = excluded.uncertainty_ns;
    END IF;
    IF d ? 'gap' THEN
        INSERT INTO gap SELECT own, g.first_n, g.channel, g.count, g.cause, g.recovered, own_host_boot(g.host_boot),
            g.boottime_ns, g.certainty, g.uncertainty, left(g.meaning, 500)
        FROM jsonb_to_recordset(d -> 'gap') AS g (first_n bigint, channel integer, count bigint, cause text, recovered bigint,
            host_boot text, boottime_ns bigint, certainty text, uncertainty bigint, meaning text)
        ON CONFLICT (stream_id, channel, first_n) DO UPDATE SET count = excluded.count, cause = excluded.cause,
            recovered = excluded.recovered, host_boot_id = excluded.host_boot_id, boottime_ns = excluded.boottime_ns,
            certainty = excluded.certainty, uncertainty = excluded.uncertainty, meaning = excluded.meaning;
    END IF;
    IF d ? 'loss_detection' THEN
        INSERT INTO loss_detection SELECT own, l.first_n, l.means
        FROM jsonb_to_recordset(d -> 'loss_detection') AS l (first_n bigint, means text)
        ON CONFLICT (stream_id, first_n) DO UPDATE SET means = excluded.means;
    END IF;
    IF d ? 'block' THEN
        INSERT INTO block SELECT own, b.chain, b.number, b.channel, b.first_n, b.last_n, b.row_count, decode(b.digest, 'hex')
        FROM jsonb_to_recordset(d -> 'block') AS b (chain text, number bigint, channel integer, first_n bigint, last_n bigint,
            row_count bigint, digest text)
        ON CONFLICT (stream_id, chain, number) DO UPDATE SET last_n = excluded.last_n, row_count = excluded.row_count,
            digest = excluded.digest
            WHERE (block.last_n, block.row_count, block.digest) IS DISTINCT FROM
                (excluded.last_n, excluded.row_count, excluded.digest);
    END IF;
END
$$;

-- As before, but for a clock of which no instant can be computed: all recordings of a machine wait for its clocks.
CREATE OR REPLACE FUNCTION ship_host_boots(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO host_boot (role, uuid) SELECT session_user, b ->> 'uuid' FROM jsonb_array_elements(document) AS b
    ON CONFLICT (role, uuid) DO NOTHING;
    INSERT INTO clock_offset (host_boot_id, id, boottime_ns, offset_ns, step_ns, is_synchronised)
    SELECT h.id, o.id, o.boottime_ns, o.offset_ns, o.step_ns, o.is_synchronised
    FROM jsonb_array_elements(document) AS b
    JOIN host_boot AS h ON h.role = session_user AND h.uuid = b ->> 'uuid'
    CROSS JOIN LATERAL jsonb_to_recordset(b -> 'clock_offset')
        AS o (id bigint, boottime_ns bigint, offset_ns bigint, step_ns bigint, is_synchronised integer)
    WHERE abs(o.offset_ns::numeric) < 4611686018427387904
    ON CONFLICT (host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised) DO NOTHING;
END
$$;

-- An annotation, or a link, that another recording has is refused, as a stream is: it was left out without a word.
CREATE OR REPLACE FUNCTION ship_table_changes(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own_recording bigint := ship_head(document);
    gone jsonb := document -> 'removed';
    d jsonb;
BEGIN
    IF gone ? 'link' THEN
        DELETE FROM link WHERE recording_id = own_recording AND uuid IN (
            SELECT (e ->> 'uuid')::uuid FROM jsonb_array_elements(gone -> 'link') AS e);
    END IF;
    IF EXISTS (
        SELECT 1 FROM jsonb_to_recordset(document -> 'link') AS l (uuid uuid) JOIN link AS k ON k.uuid = l.uuid
        WHERE k.recording_id <> own_recording
        UNION ALL SELECT 1 FROM jsonb_to_recordset(document -> 'annotation') AS a (uuid uuid)
        JOIN annotation AS k ON k.uuid = a.uuid WHERE k.recording_id <> own_recording) THEN
        RAISE EXCEPTION 'an annotation or a link of the recording % is here as one of another recording',
            document -> 'recording' ->> 'uuid' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF document ? 'link' THEN
        INSERT INTO link (uuid, recording_id, host_boot_id, began_boottime_ns, ended_boottime_ns, facts)
        SELECT l.uuid, own_recording, own_host_boot(l.host_boot), l.began_boottime_ns, l.ended_boottime_ns, l.facts
        FROM jsonb_to_recordset(document -> 'link')
            AS l (uuid uuid, host_boot text, began_boottime_ns bigint, ended_boottime_ns bigint, facts jsonb)
        ON CONFLICT (uuid) DO UPDATE SET host_boot_id = excluded.host_boot_id, began_boottime_ns = excluded.began_boottime_ns,
            ended_boottime_ns = excluded.ended_boottime_ns, facts = excluded.facts WHERE link.recording_id = own_recording;
    END IF;
    FOR d IN SELECT * FROM jsonb_array_elements(document -> 'stream') LOOP
        PERFORM ship_stream_changes(own_recording, d, d -> 'removed');
    END LOOP;
    IF gone ? 'annotation' THEN
        DELETE FROM annotation WHERE recording_id = own_recording AND uuid IN (
            SELECT (e ->> 'uuid')::uuid FROM jsonb_array_elements(gone -> 'annotation') AS e);
    END IF;
    IF document ? 'annotation' THEN
        INSERT INTO annotation (uuid, recording_id, host_boot_id, boottime_ns, duration_seconds, description, source, stream_id,
            n, device_ticks, code, replaces, withdrawn_host_boot_id, withdrawn_boottime_ns)
        SELECT a.uuid, own_recording, own_host_boot(a.host_boot), a.boottime_ns, a.duration_seconds, a.description, a.source,
            (SELECT id FROM stream WHERE uuid = a.stream AND recording_id = own_recording), a.n, a.device_ticks, a.code,
            a.replaces, own_host_boot(a.withdrawn_host_boot), a.withdrawn_boottime_ns
        FROM jsonb_to_recordset(document -> 'annotation') AS a (uuid uuid, host_boot text, boottime_ns bigint,
            duration_seconds double precision, description text, source text, stream uuid, n bigint, device_ticks bigint,
            code bigint, replaces uuid, withdrawn_host_boot text, withdrawn_boottime_ns bigint)
        ON CONFLICT (uuid) DO UPDATE SET host_boot_id = excluded.host_boot_id, boottime_ns = excluded.boottime_ns,
            duration_seconds = excluded.duration_seconds, description = excluded.description, source = excluded.source,
            stream_id = excluded.stream_id, n = excluded.n, device_ticks = excluded.device_ticks, code = excluded.code,
            replaces = excluded.replaces, withdrawn_host_boot_id = excluded.withdrawn_host_boot_id,
            withdrawn_boottime_ns = excluded.withdrawn_boottime_ns WHERE annotation.recording_id = own_recording;
    END IF;
END
$$;

-- Statistics of these columns would answer whether a name is there to who reads another study: EXPLAIN shows an estimate.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT a.attrelid, a.attnum, c.name, a.attname FROM (VALUES
            ('recording', 'label subject task'), ('recording_property', 'key value'), ('annotation', 'description'),
            ('recording_detail', 'session run operator notes time_zone subject_name subject_sex subject_birthdate '
                'subject_handedness'),
            ('headset', 'name serial_number'), ('headset_status', 'name sentence alerts'), ('machine_status', 'problem alerts'),
            ('stream', 'view_name'), ('channel', 'name declared_name'), ('study', 'name'), ('link', 'facts'),
            ('gap', 'meaning'), ('recording_row', 'row')
        ) AS c (name, columns)
        JOIN pg_attribute AS a ON a.attrelid = to_regclass('public.' || c.name)
            AND a.attname = ANY (string_to_array(c.columns, ' '))
    LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STATISTICS 0', item.name, item.attname);
        -- What is there stays otherwise.
        BEGIN
            DELETE FROM pg_statistic AS s WHERE s.starelid = item.attrelid AND s.staattnum = item.attnum;
        EXCEPTION
            WHEN insufficient_privilege THEN
                IF EXISTS (SELECT 1 FROM pg_stats AS s WHERE (s.schemaname, s.tablename, s.attname)
                    = ('public', item.name, item.attname)) THEN
                    RAISE WARNING 'statistics of %.% stay until a superuser removes them from pg_statistic', item.name,
                        item.attname;
                END IF;
        END;
    END LOOP;
END
$$;

-- A view of streams is not called as what spread_blocks() makes.
DO $$
DECLARE
    item text;
BEGIN
    FOREACH item IN ARRAY ARRAY['stream_right', 'reader_right'] LOOP
        IF EXISTS (
            SELECT 1 FROM pg_class WHERE relname = item AND relnamespace = 'public'::regnamespace AND relkind = 'v'
                AND obj_description(oid, 'pg_class') = 'streams of this name') THEN
            EXECUTE format('DROP VIEW %I', item);
        END IF;
    END LOOP;
END
$$;
CREATE OR REPLACE FUNCTION lacking_stream_views(of_recording bigint) RETURNS SETOF text LANGUAGE sql STABLE
SET search_path = public, pg_temp AS $$
    SELECT DISTINCT st.name FROM stream AS st CROSS JOIN LATERAL channel_names(st.id) AS c
    WHERE (of_recording IS NULL OR st.recording_id = of_recording)
        AND st.name NOT IN ('stream_right', 'reader_right')
        AND octet_length(st.name) <= 63 AND octet_length(c.name) BETWEEN 1 AND 63
        AND c.name NOT IN ('recording_id', 'headset', 'stream_id', 'bank', 'n', 'time', 'unix_ns')
        -- Not where something else is called so.
        AND NOT EXISTS (
            SELECT 1 FROM pg_class AS k WHERE k.relname = st.name AND k.relnamespace = 'public'::regnamespace
                AND (k.relkind <> 'v' OR obj_description(k.oid, 'pg_class') IS DISTINCT FROM 'streams of this name'
                    OR k.relnatts >= 207
                    OR EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = k.oid AND a.attname = c.name)))
$$;

-- Who makes views holds a lock that no machine, and no reader, can take. It was one that anybody could.
CREATE FUNCTION may_make_views() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    LOCK TABLE schema_step IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
    RETURN true;
EXCEPTION
    WHEN lock_not_available THEN RETURN false;
END
$$;
CREATE OR REPLACE FUNCTION make_stream_views() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    IF current_setting('eegsync.views', true) = 'afterwards' OR NOT may_make_views() THEN RETURN; END IF;
    PERFORM make_stream_view(l.name) FROM lacking_stream_views(NULL) AS l (name);
END
$$;
CREATE OR REPLACE FUNCTION ship_views(of_recording uuid) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint := own_recording(of_recording);
BEGIN
    IF own IS NULL OR NOT lacks_stream_view(own) THEN RETURN true; END IF;
    IF NOT may_make_views() THEN RETURN false; END IF;
    PERFORM make_stream_view(l.name) FROM lacking_stream_views(own) AS l (name);
    RETURN NOT lacks_stream_view(own);
END
$$;

-- How often what is said of a recording has changed here. A machine says which one it supposes, before it has read what it
-- sends: of two processes of it the later one cannot put back what the other one has sent meanwhile.
ALTER TABLE recording ADD COLUMN document_version bigint NOT NULL DEFAULT 0;

-- That of a recording of this session's machine; 0 where it is not here.
CREATE FUNCTION ship_version(of_recording uuid) RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    RETURN coalesce((SELECT r.document_version FROM recording AS r WHERE r.uuid = of_recording AND r.role = session_user), 0);
END
$$;

-- ship_recording() or ship_changes(), of a machine that says which version it supposes. Returns the one that it is now.
CREATE FUNCTION ship_document(document jsonb, is_whole boolean, supposed bigint) RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    own uuid := (document -> 'recording' ->> 'uuid')::uuid;
    present bigint;
BEGIN
    SELECT r.document_version INTO present FROM recording AS r WHERE r.uuid = own AND r.role = session_user FOR NO KEY UPDATE;
    IF coalesce(present, 0) = supposed THEN
        IF is_whole THEN PERFORM ship_recording(document); ELSE PERFORM ship_changes(document); END IF;
        SELECT r.document_version INTO present FROM recording AS r WHERE r.uuid = own AND r.role = session_user;
        -- Of two that begin it at once, the second one has waited for the first.
        IF present = supposed + 1 THEN RETURN present; END IF;
    END IF;
    RAISE EXCEPTION 'what is here of the recording % has changed meanwhile', own USING ERRCODE = 'serialization_failure';
END
$$;

CREATE OR REPLACE FUNCTION ship_changes(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint := own_recording((document -> 'recording' ->> 'uuid')::uuid);
BEGIN
    -- What has changed since makes no recording. A class that a machine tries again, by sending the whole.
    IF own IS NULL THEN
        RAISE EXCEPTION 'the recording % is not here any more', document -> 'recording' ->> 'uuid'
            USING ERRCODE = 'serialization_failure';
    END IF;
    PERFORM ship_row_changes(document);
    IF document ? 'channel_declaration' OR document @? '$.stream[*].channel' THEN
        PERFORM note_declared_names(own);
    END IF;
    UPDATE recording SET document_version = document_version + 1 WHERE id = own;
    IF current_setting('eegsync.views', true) IS DISTINCT FROM 'afterwards' AND lacks_stream_view(own) THEN
        PERFORM make_stream_views();
    END IF;
END
$$;

-- As before. A machine removes nothing of what people said, and what it has computed anew, but by later rows: where some of it
-- is here and not in its database, that is an older one, which would put it back.
CREATE OR REPLACE FUNCTION ship_recording(document jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    own bigint := own_recording((document -> 'recording' ->> 'uuid')::uuid);
    lacking text;
BEGIN
    SELECT string_agg(e.words, ', ') INTO lacking FROM (
        SELECT count(*) || ' of annotation' AS words FROM annotation AS k
        WHERE k.recording_id = own AND document ? 'annotation' AND NOT EXISTS (
            SELECT 1 FROM jsonb_to_recordset(document -> 'annotation') AS a (uuid uuid) WHERE a.uuid = k.uuid)
        HAVING count(*) > 0
        UNION ALL SELECT count(*) || ' of ' || k.table_name FROM recording_row AS k
        WHERE k.recording_id = own AND k.table_name IN ('recording_edit', 'channel_correction', 'refit')
            AND document ? k.table_name AND NOT EXISTS (
                SELECT 1 FROM jsonb_to_recordset(document -> k.table_name) AS d (owner text, number bigint, part bigint)
                WHERE (d.owner, d.number, d.part) = (k.owner, k.number, k.part))
        GROUP BY k.table_name) AS e;
    IF lacking IS NOT NULL THEN
        RAISE EXCEPTION 'the machine''s database is older than what is here of the recording: it lacks rows, %', lacking
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    DELETE FROM recording_row WHERE recording_id = own AND table_name IN (SELECT row_lists(document));
    PERFORM ship_table_recording(document);
END
$$;

-- A machine whose readers are to be others gets another role: what it has sent stays in its study, and with it the names of its
-- headsets, and goes on.
ALTER TABLE shipper ADD COLUMN replaced_by name;

CREATE OR REPLACE FUNCTION enrol(of_role name, of_study text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    before text := (SELECT t.name FROM shipper AS s JOIN study AS t ON t.id = s.study_id WHERE s.role = of_role);
BEGIN
    INSERT INTO study (name) VALUES (of_study) ON CONFLICT DO NOTHING;
    INSERT INTO shipper (role, study_id) SELECT of_role, id FROM study WHERE name = of_study
    ON CONFLICT (role) DO UPDATE SET study_id = excluded.study_id, replaced_by = NULL;
    EXECUTE format('GRANT eegsync_ship TO %I', of_role);
    RETURN before;
END
$$;

-- Enrols a role that has sent nothing yet instead of another one, which sends no more. Returns the study that that one was in.
CREATE FUNCTION enrol_instead(of_role name, of_study text, former name) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE
    before text := (SELECT t.name FROM shipper AS s JOIN study AS t ON t.id = s.study_id WHERE s.role = former);
BEGIN
    IF before IS NULL THEN
        RAISE EXCEPTION 'the role % is in no study', former USING ERRCODE = 'no_data_found';
    END IF;
    IF of_role = former OR EXISTS (SELECT 1 FROM machine WHERE role = of_role)
        OR EXISTS (SELECT 1 FROM host_boot WHERE role = of_role) THEN
        RAISE EXCEPTION 'the role % has sent already, or is the same: take one that is new', of_role
            USING ERRCODE = 'duplicate_object';
    END IF;
    PERFORM enrol(of_role, of_study);
    -- What it said last names headsets of the time before; it says it anew.
    DELETE FROM headset_status WHERE role = former;
    DELETE FROM machine_status WHERE role = former;
    UPDATE machine SET role = of_role WHERE role = former;
    UPDATE host_boot SET role = of_role WHERE role = former;
    UPDATE recording SET role = of_role WHERE role = former;
    UPDATE shipper SET replaced_by = of_role WHERE role = former OR replaced_by = former;
    IF to_regclass('public.stream_right') IS NOT NULL THEN
        EXECUTE 'UPDATE stream_right SET role = $1 WHERE role = $2' USING of_role, former;
    END IF;
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = former) THEN
        EXECUTE format('REVOKE eegsync_ship FROM %I', former);
    END IF;
    RETURN before;
END
$$;

-- As before, but a recording that another role of the machine has begun keeps its headset, which is of that role.
CREATE OR REPLACE FUNCTION ship_head(document jsonb) RETURNS bigint LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    r jsonb := document -> 'recording';
    h jsonb := document -> 'headset';
    own_headset bigint;
    own_recording bigint;
BEGIN
    SELECT k.id INTO own_headset FROM headset AS k
    WHERE k.role = session_user AND k.uuid = (h ->> 'uuid')::uuid
        AND (k.name, k.serial_number) IS NOT DISTINCT FROM (h ->> 'name', h ->> 'serial_number');
    IF own_headset IS NULL THEN
        UPDATE headset AS k SET name = h ->> 'name', serial_number = h ->> 'serial_number' FROM recording AS e
        WHERE e.uuid = (r ->> 'uuid')::uuid AND e.role = session_user AND k.id = e.headset_id AND k.role <> session_user
            AND k.uuid = (h ->> 'uuid')::uuid
        RETURNING k.id INTO own_headset;
    END IF;
    IF own_headset IS NULL THEN
        INSERT INTO headset (uuid, role, name, model, serial_number)
        VALUES ((h ->> 'uuid')::uuid, session_user, h ->> 'name', h ->> 'model', h ->> 'serial_number')
        ON CONFLICT (role, uuid) DO UPDATE SET name = excluded.name, serial_number = excluded.serial_number
        RETURNING id INTO own_headset;
    END IF;
    -- Of two processes that ship one recording, one waits here for the other one's transaction, as with an UPDATE.
    SELECT k.id INTO own_recording FROM recording AS k
    WHERE k.uuid = (r ->> 'uuid')::uuid AND k.role = session_user
        AND (k.desired_state, k.label, k.subject, k.task, k.started_host_boot_id, k.started_boottime_ns,
            k.stop_requested_host_boot_id, k.stop_requested_boottime_ns, k.stopped_host_boot_id, k.stopped_boottime_ns)
        IS NOT DISTINCT FROM (r ->> 'desired_state', r ->> 'label', r ->> 'subject', r ->> 'task',
            own_host_boot(r ->> 'started_host_boot'), (r ->> 'started_boottime_ns')::bigint,
            own_host_boot(r ->> 'stop_requested_host_boot'), (r ->> 'stop_requested_boottime_ns')::bigint,
            own_host_boot(r ->> 'stopped_host_boot'), (r ->> 'stopped_boottime_ns')::bigint)
    FOR NO KEY UPDATE;
    IF own_recording IS NULL THEN
        INSERT INTO recording (uuid, role, study_id, headset_id, machine_recording_id, desired_state, label, subject, task,
            requested_host_boot_id, requested_boottime_ns, started_host_boot_id, started_boottime_ns,
            stop_requested_host_boot_id, stop_requested_boottime_ns, stopped_host_boot_id, stopped_boottime_ns)
        VALUES ((r ->> 'uuid')::uuid, session_user, (SELECT study_id FROM shipper WHERE role = session_user), own_headset,
            (r ->> 'id')::bigint, r ->> 'desired_state', r ->> 'label', r ->> 'subject', r ->> 'task',
            own_host_boot(r ->> 'requested_host_boot'), (r ->> 'requested_boottime_ns')::bigint,
            own_host_boot(r ->> 'started_host_boot'), (r ->> 'started_boottime_ns')::bigint,
            own_host_boot(r ->> 'stop_requested_host_boot'), (r ->> 'stop_requested_boottime_ns')::bigint,
            own_host_boot(r ->> 'stopped_host_boot'), (r ->> 'stopped_boottime_ns')::bigint)
        ON CONFLICT (uuid) DO UPDATE SET desired_state = excluded.desired_state, label = excluded.label,
            subject = excluded.subject, task = excluded.task, started_host_boot_id = excluded.started_host_boot_id,
            started_boottime_ns = excluded.started_boottime_ns,
            stop_requested_host_boot_id = excluded.stop_requested_host_boot_id,
            stop_requested_boottime_ns = excluded.stop_requested_boottime_ns,
            stopped_host_boot_id = excluded.stopped_host_boot_id, stopped_boottime_ns = excluded.stopped_boottime_ns
            WHERE recording.role = session_user
        RETURNING id INTO own_recording;
    END IF;
    IF own_recording IS NULL THEN
        RAISE EXCEPTION 'the recording % is of another machine', r ->> 'uuid' USING ERRCODE = 'insufficient_privilege';
    END IF;
    DELETE FROM recording_detail AS k WHERE k.recording_id = own_recording AND NOT EXISTS (
        SELECT 1 FROM jsonb_to_recordset(document -> 'recording_detail') AS d (session text, run text, operator text,
            notes text, time_zone text, subject_name text, subject_sex text, subject_birthdate text, subject_handedness text)
        WHERE (k.session, k.run, k.operator, k.notes, k.time_zone, k.subject_name, k.subject_sex, k.subject_birthdate,
            k.subject_handedness) IS NOT DISTINCT FROM (d.session, d.run, d.operator, d.notes, d.time_zone, d.subject_name,
            d.subject_sex, d.subject_birthdate, d.subject_handedness));
    INSERT INTO recording_detail SELECT own_recording, d.session, d.run, d.operator, d.notes, d.time_zone, d.subject_name,
        d.subject_sex, d.subject_birthdate, d.subject_handedness
    FROM jsonb_to_recordset(document -> 'recording_detail') AS d (session text, run text, operator text, notes text,
        time_zone text, subject_name text, subject_sex text, subject_birthdate text, subject_handedness text)
    ON CONFLICT (recording_id) DO NOTHING;
    DELETE FROM recording_property AS k WHERE k.recording_id = own_recording AND NOT EXISTS (
        SELECT 1 FROM jsonb_to_recordset(document -> 'recording_property') AS p (key text, value text)
        WHERE (p.key, p.value) = (k.key, k.value));
    INSERT INTO recording_property SELECT own_recording, p.key, p.value
    FROM jsonb_to_recordset(document -> 'recording_property') AS p (key text, value text)
    ON CONFLICT (recording_id, key) DO NOTHING;
    RETURN own_recording;
END
$$;

CREATE OR REPLACE FUNCTION is_of_another_study(of_role name, of_headset text) RETURNS boolean LANGUAGE plpgsql STABLE
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN coalesce((
        SELECT r.study_id NOT IN (SELECT readable_study())
        FROM recording AS r
        WHERE r.id = (
                SELECT max(k.id) FROM headset AS h JOIN recording AS k ON k.headset_id = h.id
                WHERE h.role IN (SELECT of_role UNION ALL SELECT s.role FROM shipper AS s WHERE s.replaced_by = of_role)
                    AND left(h.name, 200) = of_headset AND k.role = of_role)
            AND EXISTS (SELECT 1 FROM shipper AS s WHERE s.role = of_role AND s.study_id IN (SELECT readable_study()))), false);
END
$$;

-- As before, without roles that were replaced.
CREATE OR REPLACE VIEW fleet WITH (security_invoker = true) AS
SELECT t.name AS study, q.role AS machine, m.uuid AS machine_uuid, m.version,
    extract(epoch FROM now() - greatest(m.last_contact, c.received))::double precision AS contact_seconds,
    c.machine IS NOT NULL AS has_said, c.is_acquiring, c.problem, c.alerts, c.free_bytes, c.disk_days,
    coalesce(d.name, p.name) AS headset, d.model, d.is_wanted, d.severity, d.sentence, d.alerts AS headset_alerts,
    d.battery_percent,
    extract(epoch FROM now() - c.received)::double precision + d.newest_seconds AS newest_seconds,
    CASE WHEN d.newest_unix_ns IS NOT NULL AND p.newest_unix_ns IS NOT NULL
        THEN greatest(0, (d.newest_unix_ns::numeric - p.newest_unix_ns) / 1e9)::double precision END AS delay_seconds,
    p.backlog_seconds, p.gaps_today, p.missing_today_seconds, p.newest_unix_ns, p.recording_id, e.is_so AS is_of_another_study
FROM shipper AS q
JOIN study AS t ON t.id = q.study_id
LEFT JOIN LATERAL (SELECT * FROM machine AS m WHERE m.role = q.role ORDER BY m.last_contact DESC LIMIT 1) AS m ON true
LEFT JOIN machine_status AS c ON c.machine = m.uuid
LEFT JOIN headset_status AS d ON d.machine = m.uuid
-- OFFSET: asked once for each.
CROSS JOIN LATERAL (SELECT is_of_another_study(q.role, d.name) OFFSET 0) AS e (is_so)
LEFT JOIN headset_progress AS p ON p.role = q.role AND NOT e.is_so AND (left(p.name, 200) = d.name OR c.machine IS NULL)
WHERE q.replaced_by IS NULL;

-- Whether a text has one of some names in it.
CREATE FUNCTION has_name(value text, names text[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$SELECT EXISTS (SELECT 1 FROM unnest(names) AS n (name) WHERE n.name <> '' AND strpos(lower(value), lower(n.name)) > 0)$$;

-- What has a participant's name in it, for people to mend.
CREATE FUNCTION mentions_of(names text[]) RETURNS SETOF text LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT e.name || ' of recording ' || e.id FROM (
        SELECT 'annotation.description' AS name, recording_id AS id, description AS value FROM annotation
        UNION ALL SELECT 'recording.' || v.name, r.id, v.value FROM recording AS r
            CROSS JOIN LATERAL (VALUES ('label', r.label), ('task', r.task)) AS v (name, value)
        UNION ALL SELECT 'recording_detail.' || v.key, d.recording_id, v.value FROM recording_detail AS d
            CROSS JOIN LATERAL jsonb_each_text(to_jsonb(d) - 'recording_id' - 'subject_name') AS v
        UNION ALL SELECT 'recording_property.' || v.name, p.recording_id, v.value FROM recording_property AS p
            CROSS JOIN LATERAL (VALUES ('key', p.key), ('value', p.value)) AS v (name, value)
        UNION ALL SELECT 'stream.' || v.name, s.recording_id, v.value FROM stream AS s
            CROSS JOIN LATERAL (VALUES ('name', s.name), ('view_name', s.view_name)) AS v (name, value)
        UNION ALL SELECT 'channel.name', s.recording_id, concat_ws(' ', c.name, c.declared_name, c.unit, c.type)
            FROM channel AS c JOIN stream AS s ON s.id = c.stream_id
        UNION ALL SELECT 'gap.' || v.name, s.recording_id, v.value FROM gap AS g JOIN stream AS s ON s.id = g.stream_id
            CROSS JOIN LATERAL (VALUES ('cause', g.cause), ('meaning', g.meaning)) AS v (name, value)
        UNION ALL SELECT 'link.facts', l.recording_id, v.value FROM link AS l
            CROSS JOIN LATERAL jsonb_each_text(CASE jsonb_typeof(l.facts) WHEN 'object' THEN l.facts ELSE '{}' END) AS v
        -- Those that have numbers alone are the most by far.
        UNION ALL SELECT t.table_name || '.' || v.key, t.recording_id, v.value FROM recording_row AS t
            CROSS JOIN LATERAL jsonb_each_text(CASE jsonb_typeof(t.row) WHEN 'object' THEN t.row ELSE '{}' END) AS v
            WHERE t.table_name <> ALL (ARRAY['arrival', 'signal_check', 'clock_observation', 'replaced_segment'])
    ) AS e WHERE has_name(e.value, names)
    -- Other participants may be called something with these letters in it.
    UNION SELECT 'recording.subject of recording ' || r.id FROM recording AS r
        JOIN unnest(names) AS n (name) ON lower(r.subject) = lower(n.name)
    UNION SELECT 'recording_detail.subject_name of recording ' || d.recording_id FROM recording_detail AS d
        JOIN unnest(names) AS n (name) ON lower(d.subject_name) = lower(n.name)
    UNION SELECT format('headset.%s of %s', v.name, h.role) FROM headset AS h
        CROSS JOIN LATERAL (VALUES ('name', h.name), ('serial_number', h.serial_number)) AS v (name, value)
        WHERE has_name(v.value, names)
    UNION SELECT format('headset_status.name of %s', h.role) FROM headset_status AS h WHERE has_name(h.name, names)
    UNION SELECT 'study.name' FROM study AS t WHERE has_name(t.name, names)
    UNION SELECT 'shipper.role' FROM shipper AS q WHERE has_name(q.role, names)
    UNION SELECT 'a column of the view ' || k.relname FROM pg_class AS k JOIN pg_attribute AS a ON a.attrelid = k.oid
        WHERE k.relnamespace = 'public'::regnamespace AND obj_description(k.oid, 'pg_class') = 'streams of this name'
            AND (has_name(k.relname, names) OR has_name(a.attname, names))
$$;

-- Recordings of other machines that have samples of the same headset at the same time as some: by the clock, or by the
-- headset's own count in one boot of it.
CREATE FUNCTION recorded_beside(recordings bigint[]) RETURNS SETOF text LANGUAGE sql STABLE
SET search_path = public, pg_temp AS $$
    SELECT DISTINCT format('recording %s of %s', o.id, o.role)
    FROM recording AS r
    JOIN headset AS hr ON hr.id = r.headset_id
    JOIN headset AS ho ON ho.model = hr.model AND (ho.uuid = hr.uuid OR ho.serial_number = hr.serial_number)
    JOIN recording AS o ON o.headset_id = ho.id AND o.role <> r.role AND o.id <> ALL (recordings)
    WHERE r.id = ANY (recordings) AND (
        EXISTS (
            SELECT 1 FROM segment_time AS a JOIN segment_time AS b ON b.recording_id = o.id
                AND b.start_unix_ns <= a.end_unix_ns AND a.start_unix_ns <= b.end_unix_ns
            WHERE a.recording_id = r.id)
        OR EXISTS (
            SELECT 1 FROM stream AS sa JOIN epoch AS a ON a.stream_id = sa.id
            JOIN epoch AS b ON b.boot_identifier = a.boot_identifier
            JOIN stream AS sb ON sb.id = b.stream_id AND sb.recording_id = o.id AND (sb.name, sb.bank) = (sa.name, sa.bank)
            CROSS JOIN LATERAL (
                SELECT coalesce(
                        (SELECT e.first_n - 1 FROM epoch AS e WHERE e.stream_id = a.stream_id AND e.number > a.number
                        ORDER BY e.number LIMIT 1),
                        (SELECT max(e.last_n) FROM segment AS e WHERE e.stream_id = a.stream_id)) - a.first_n AS here,
                    coalesce(
                        (SELECT e.first_n - 1 FROM epoch AS e WHERE e.stream_id = b.stream_id AND e.number > b.number
                        ORDER BY e.number LIMIT 1),
                        (SELECT max(e.last_n) FROM segment AS e WHERE e.stream_id = b.stream_id)) - b.first_n AS there) AS l
            WHERE sa.recording_id = r.id AND coalesce(a.first_index <= b.first_index + l.there
                AND b.first_index <= a.first_index + l.here, true)))
$$;

-- As before. Headsets without any recording go, too, and what machines said last with the name in it, which they say anew where
-- it still holds. Returns also how many of these, and recordings of other machines beside those that were erased.
DROP FUNCTION erase_subject(text);
CREATE FUNCTION erase_subject(of_subject text, OUT recording_count bigint, OUT edit_count bigint, OUT mentions text[],
    OUT remnant_count bigint, OUT beside text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    recordings bigint[] := ARRAY(
        SELECT r.id FROM recording AS r LEFT JOIN recording_detail AS d ON d.recording_id = r.id
        WHERE r.subject = of_subject OR d.subject_name = of_subject);
    -- As these recordings call the participant.
    names text[] := ARRAY(
        SELECT of_subject UNION SELECT e.name
        FROM recording AS r LEFT JOIN recording_detail AS d ON d.recording_id = r.id
        CROSS JOIN LATERAL (VALUES (r.subject), (d.subject_name)) AS e (name)
        WHERE r.id = ANY (recordings) AND e.name IS NOT NULL);
    streams bigint[];
    uuids uuid[];
    part text;
    found bigint;
BEGIN
    -- A machine that sends just now has ended then, and the next one finds nothing to go on with.
    PERFORM 1 FROM recording WHERE id = ANY (recordings) ORDER BY id FOR UPDATE;
    SELECT array_agg(id), array_agg(uuid) INTO streams, uuids FROM stream WHERE recording_id = ANY (recordings);
    INSERT INTO shipment (stream) SELECT u FROM unnest(uuids) AS u ON CONFLICT DO NOTHING;
    PERFORM 1 FROM shipment WHERE stream = ANY (uuids) ORDER BY stream FOR UPDATE;
    beside := ARRAY(SELECT b FROM recorded_beside(recordings) AS b ORDER BY b);
    FOREACH part IN ARRAY ARRAY['sample_block', 'sample_patch', 'shipment'] LOOP
        EXECUTE format('DELETE FROM %I WHERE stream = ANY ($1)', part) USING uuids;
    END LOOP;
    DELETE FROM annotation WHERE recording_id = ANY (recordings);
    FOREACH part IN ARRAY ARRAY['channel', 'epoch', 'segment', 'gap', 'loss_detection', 'block'] LOOP
        EXECUTE format('DELETE FROM %I WHERE stream_id = ANY ($1)', part) USING streams;
    END LOOP;
    DELETE FROM stream WHERE id = ANY (streams);
    FOREACH part IN ARRAY ARRAY['link', 'recording_detail', 'recording_property'] LOOP
        EXECUTE format('DELETE FROM %I WHERE recording_id = ANY ($1)', part) USING recordings;
    END LOOP;
    DELETE FROM recording WHERE id = ANY (recordings);
    recording_count := cardinality(recordings);
    -- By recording: of the other tables this one has many millions of rows.
    UPDATE recording_row AS t SET row = t.row
        || CASE WHEN t.row ->> 'before' = ANY (names) THEN '{"before": null}' ELSE '{}' END::jsonb
        || CASE WHEN t.row ->> 'after' = ANY (names) THEN '{"after": null}' ELSE '{}' END::jsonb
    FROM recording AS r
    WHERE t.recording_id = r.id AND t.table_name = 'recording_edit' AND t.row ->> 'field' IN ('subject', 'subject_name')
        AND (t.row ->> 'before' = ANY (names) OR t.row ->> 'after' = ANY (names));
    GET DIAGNOSTICS edit_count = ROW_COUNT;
    DELETE FROM headset AS h WHERE NOT EXISTS (SELECT 1 FROM recording AS r WHERE r.headset_id = h.id);
    GET DIAGNOSTICS remnant_count = ROW_COUNT;
    mentions := ARRAY(SELECT m FROM mentions_of(names) AS m ORDER BY m);
    DELETE FROM headset_status AS h WHERE has_name(concat_ws(' ', h.name, h.model, h.sentence, h.alerts::text), names);
    GET DIAGNOSTICS found = ROW_COUNT;
    remnant_count := remnant_count + found;
    UPDATE machine_status AS m SET problem = CASE WHEN has_name(m.problem, names) THEN NULL ELSE m.problem END,
        alerts = ARRAY(SELECT a FROM unnest(m.alerts) AS a WHERE NOT has_name(a, names))
    WHERE has_name(m.problem, names) OR has_name(m.alerts::text, names);
    GET DIAGNOSTICS found = ROW_COUNT;
    remnant_count := remnant_count + found;
END
$$;

REVOKE ALL ON FUNCTION fitting, may_make_views, ship_version, ship_document, enrol_instead, has_name, mentions_of,
    recorded_beside, erase_subject FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fitting TO eegsync_read, eegsync_admin;
GRANT EXECUTE ON FUNCTION ship_version, ship_document TO eegsync_ship, eegsync_admin;
GRANT EXECUTE ON FUNCTION enrol_instead, erase_subject TO eegsync_admin;
