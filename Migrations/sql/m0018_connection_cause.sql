-- What a connection waits for and why an attempt failed, as a name that programs can compare: the state of an adapter
-- (poweredOff), an error (pairingRefused) or the reason of a quarantine (changesTooOften). What the name leaves open stands in
-- detail; rows of earlier versions have a sentence there and no name.

ALTER TABLE connection_event ADD COLUMN cause TEXT;
ALTER TABLE connection_attempt ADD COLUMN cause TEXT;
