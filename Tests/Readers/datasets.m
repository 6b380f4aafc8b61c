% Reads exported datasets of EEGLAB with what Octave has itself, and writes what it has read:
% octave-cli datasets.m DIRECTORY FILE [FILE ...].
%
% DIRECTORY gets, of each dataset, NAME.rows: rows, channels, seconds since 1970 of each row, then row after row; and
% NAME.events.json.

arguments = argv ();
for i = 2:numel (arguments)
  [folder, name] = fileparts (arguments{i});
  read = load ('-mat', arguments{i});
  EEG = read.EEG;
  % As pop_loadset() of EEGLAB reads the file beside it.
  data = fopen (fullfile (folder, EEG.data), 'r', 'ieee-le');
  values = fread (data, [EEG.nbchan, EEG.pnts], 'float32');
  fclose (data);
  % Each unbroken piece has the latency and the time of its first row.
  facts = EEG.etc.eegsync;
  rows = 1:EEG.pnts;
  piece = lookup (facts.piece_latency, rows);
  seconds = facts.piece_unix_seconds(piece) + (rows - facts.piece_latency(piece)) / EEG.srate;
  out = fopen (fullfile (arguments{1}, [name '.rows']), 'w', 'ieee-le');
  fwrite (out, [EEG.pnts, EEG.nbchan], 'double');
  fwrite (out, seconds, 'double');
  fwrite (out, values, 'double');
  fclose (out);
  out = fopen (fullfile (arguments{1}, [name '.events.json']), 'w');
  events = cell (1, numel (EEG.event));
  for k = 1:numel (EEG.event)
    events{k} = EEG.event(k);
  end
  fputs (out, jsonencode (events));
  fclose (out);
end
