"""Says what BioPsyKit's reader of muselsl's tables makes of one.

The package imports all that it can do at once; its reader needs pandas alone, and is imported as it is, without the rest.
"""

import importlib.util
import json
import math
import sys
import types

found = importlib.util.find_spec("biopsykit")
assert found is not None and found.submodule_search_locations
for name in ("biopsykit", "biopsykit.io", "biopsykit.utils"):
    package = types.ModuleType(name)
    package.__path__ = [found.submodule_search_locations[0] + name.removeprefix("biopsykit").replace(".", "/")]
    sys.modules[name] = package

from biopsykit.io.eeg import MuseDataset  # noqa: E402

data = MuseDataset.from_csv_file(sys.argv[1], tz="UTC")
frame = data.data_as_df(index="utc")
dated = data.data_as_df(index="utc_datetime")
assert str(dated.index.tz) == "UTC" and len(dated) == len(frame)
columns = {name: [None if math.isnan(value) else value for value in frame[name]] for name in frame.columns}
print(json.dumps({"utc": frame.index.tolist(), "columns": columns}))
