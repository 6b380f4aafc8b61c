-- Keys of pairings stand in a file of mode 0600 beside the database from now on: `<database>-keys`. The program has written
-- them there before this step, and switches secure_delete on for it, so that their pages are overwritten.

DROP TABLE long_term_key;
DROP TABLE identity_resolving_key;
DROP TABLE link_key;
