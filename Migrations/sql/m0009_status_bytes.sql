-- The bytes that told a status, as sent, where they hold more than is decoded: the telemetry of a Muse, with its disputed voltages
-- and temperature, and its answers in JSON, with all that its firmware tells. NULL elsewhere.

ALTER TABLE status_report ADD COLUMN raw BLOB;
