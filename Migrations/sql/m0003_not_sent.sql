-- Samples that a headset takes and never sends, such as the last of each cycle of a Ganglion with firmware 3.

INSERT INTO gap_cause (cause, meaning) VALUES
    ('notSent', 'the headset took the sample and never sends it');
