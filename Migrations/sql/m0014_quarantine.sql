-- A headset whose description or data break a rule is let go until a person looks; the others go on.

INSERT INTO gap_cause (cause, meaning) VALUES
    ('quarantined', 'the headset was let go, because what it sends breaks a rule');
