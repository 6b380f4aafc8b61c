-- What people said of recordings before, and what headsets said, have sums of digests from now on; the program writes those of
-- the rows that are there.

DELETE FROM digest_sum WHERE table_name IN ('recording_edit', 'headset_message');
