// Every word that the page says by itself; sentences about headsets come from the program, as `eegsync status` has them.

const zoned = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" });

export const text = {
  skip: "To the content",
  pages: { now: "Now", signals: "Signals", history: "History", phone: "Bluetooth", study: "Study" },
  connected: "up to date",
  stale: (seconds) => `no answer for ${seconds} s`,
  unreachable: "eegsync serve does not answer.",
  failed: (status) => `The answer was ${status}.`,
  loading: "Loading",
  now: {
    title: "Now",
    none: "No headset is known yet. Name it in the configuration, then: eegsync record start NAME",
    youCan: "You can: ",
    nothingStored: "Nothing is stored: ",
    paused: "Paused: nothing is recorded.",
    battery: "Battery",
    contact: "Contact",
    rate: "Rate",
    lastGap: "Last gap",
    recording: "Recording",
    unknown: "not known",
    noGap: "none so far",
    openGap: (cause) => `since a moment: ${cause}`,
    gap: (length, ago, cause) => `${length ?? "of unknown length"}${ago ? `, ${ago} ago` : ""}: ${cause}`,
    missing: (count) => `${count} samples missing so far`,
    contacts: (good, all) => `${good} of ${all} electrodes good`,
    noContactKnown: "not measured",
    toSignals: "See its signals",
    head: (name) => `Electrodes of ${name}, seen from above`,
    elsewhere: "Electrodes without a known position: ",
    daemon: (pid) => (pid ? `eegsync run has pid ${pid}` : "eegsync run does not run"),
    disk: (bytes, free, days) =>
      `database ${bytes}` + (free ? `, ${free} free` : "") + (days ? ` (${days} at the present rate)` : ""),
  },
  signals: {
    title: "Signals",
    nothing: "There is no sample to show yet. Start a recording: eegsync record start HEADSET",
    unknownRecording: (id) => `There is no recording ${id}.`,
    empty: (id) => `Recording ${id} has no samples.`,
    recording: "Recording",
    stream: "Stream",
    length: "Window",
    scale: "Scale per channel",
    automatic: "automatic",
    filter: "Filter",
    notch: "Notch",
    none: "none",
    band: "1–45 Hz",
    pause: "Pause",
    goLive: "Go live",
    toStart: "To the beginning",
    back: "Half a window back",
    forward: "Half a window forward",
    longer: "Longer window",
    shorter: "Shorter window",
    keys: "Keys on the traces: ← → scroll, + − zoom, space pauses",
    displayOnly: "Filtered for display only: what is stored, and every export, is as the headset sent it.",
    notFiltered: "Windows above 30 s are shown without filters.",
    building: "Something still lacks in this picture: a long recording, and what arrived after all, is read a part at a time.",
    cut: "There are more samples than are sent at once: the end of this window is left out.",
    gap: "Gap",
    open: "still open",
    recovered: "arrived after all",
    spectrum: "Spectrum and band power",
    channel: "Channel of the spectrum",
    bandHeads: ["Band", "Power", "Share"],
    windows: (count) => `Mean of ${count} windows of two seconds, without filters.`,
    noSpectrum: "A spectrum needs some seconds without a gap in a window of up to 30 s.",
    name: ({ id, headset, label, state }) =>
      `${id}: ${headset}${label ? `, ${label}` : ""}${state === "recording" ? " (live)" : ""}`,
    streamName: (stream) => `${stream.name}, ${text.units.hertz(stream.sampling_frequency)}`,
    label: (stream, seconds, scale, unit, isLive, gaps) =>
      `Traces of ${stream.name}: ${stream.channels.map((each) => each.name).join(", ")}. ${text.units.short(seconds)}, ` +
      `${scale} ${unit} per channel, ${isLive ? "live" : "paused"}, ${gaps} gaps.`,
    time(date, step) {
      const [day, clock] = [date.toLocaleDateString("en-GB", { day: "numeric", month: "short" }), date.toTimeString()];
      if (step >= 43200000) return `${day} ${clock.slice(0, 5)}`;
      if (step >= 60000) return clock.slice(0, 5);
      const tenth = Math.floor(date.getMilliseconds() / 100);
      return step >= 1000 ? clock.slice(0, 8) : `${clock.slice(0, 8)}.${tenth}`;
    },
    zone: (date) => zoned.formatToParts(date).find((part) => part.type === "timeZoneName").value,
  },
  history: {
    title: "History",
    none: "There is no recording yet. Start one: eegsync record start HEADSET",
    heads: ["Recording", "Headset", "State", "From", "Length", "Missing", "Gaps", "Label"],
    states: { waiting: "waiting", recording: "recording", stopping: "stopping", stopped: "stopped" },
    of: (id, headset) => `Recording ${id} of ${headset}`,
    toSignals: "See its signals",
    timeline: (stream, gaps) => `Timeline of ${stream}: ${gaps} gaps`,
    stored: (percent) => `${percent} stored. `,
    legend: "Coloured where samples are stored; light where they are missing, less so where they arrived after all; " +
      "lines are marks.",
    recovered: (cause) => `${cause}; arrived after all`,
    leftOut: (count) => `${count} shorter gaps are not drawn. `,
    noGaps: "Nothing is missing.",
    longest: "The longest gaps",
    open: "still open",
    unknown: "not known",
    gapHeads: ["From", "Length", "Stream", "Cause"],
    latency: "How fast the headset came back",
    latencyHeads: ["Found by", "After", "Returns", "Median", "95 of 100", "Longest"],
    download: "Fetch as a file",
    exporting: (format) => `Exporting ${format}`,
  },
  study: {
    title: "Study",
    none: "There is no machine that you may see. Enrol one: eegsync centre enrol",
    heads: ["Machine", "Headset", "Situation", "Newest", "Delay", "Gaps today", "Battery", "Disk", "Version"],
    of: (study) => `study ${study}`,
    find: "Find",
    findHint: "a name, or words",
    shown: (some, all) => (some === all ? "" : `${some} of ${all} shown`),
    gaps: (count, missing) => `${count}${missing ? ` (${missing})` : ""}`,
    decades: "decades",
  },
  control: {
    record: "Record",
    stop: "Stop",
    impedance: "Impedances",
    measuring: "Measuring; samples pause meanwhile",
    mark: "Mark",
    markHint: "What to say about this instant",
    asked: "Asked for",
    keys: "Keys: ",
    sure: (name) => `Stop the recording of ${name}? It stays stopped until somebody starts it.`,
  },
  phone: {
    title: "Bluetooth",
    about: "How the recording of a machine nearby goes, over Bluetooth and without any network: eegsync companion must run there.",
    none: "This browser cannot do that: it needs Web Bluetooth, as Chrome and Edge have it, and an address of https or localhost.",
    connect: "Choose a machine",
    connecting: (name) => `Connecting to ${name}`,
    connected: (name) => `Connected to ${name}`,
    lost: "The link was lost; connecting again.",
    again: (why) => `Not connected (${why}); trying again.`,
    failed: (why) => `Nothing could be chosen: ${why}`,
    version: "The machine has a version of eegsync that this page does not understand.",
    paused: "Paused.",
    battery: "Battery",
    last: "Last sample",
    missing: "Missing",
    unknown: "not known",
    never: "none yet",
    ago: (duration) => `${duration} ago`,
    gaps: (samples, gaps) => `${samples} samples in ${gaps} gaps`,
    unnamed: (number) => `Headset ${number}`,
    record: "Record",
    stop: "Stop",
    mark: "Mark",
    markHint: "What to say about this instant",
    asked: "Asked for",
    refused: "Refused: a phone may do that once a person has paired it with eegsync companion pair.",
    sure: (name) => `Stop the recording of ${name}? It stays stopped until somebody starts it.`,
  },
  conditions: {
    good: "good",
    lineNoise: "line noise",
    flat: "flat",
    railed: "railed",
    poorContact: "poor contact",
    noContact: "no contact",
  },
  units: {
    hertz: (value) => `${value >= 100 ? value.toFixed(0) : value.toFixed(1)} Hz`,
    unit: (name) => (name.startsWith("u") ? `µ${name.slice(1)}` : name),
    percent: (value) => `${value.toFixed(0)} %`,
    moment: (ms) => new Date(ms).toLocaleString("en-GB", {
      day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
    }),
    bytes(value) {
      const units = ["B", "kB", "MB", "GB", "TB"];
      let index = 0;
      while (value >= 999.5 && index < units.length - 1) [value, index] = [value / 1000, index + 1];
      return `${index && value < 100 ? value.toFixed(1) : value.toFixed(0)} ${units[index]}`;
    },
    count: (value) => value.toLocaleString("en-GB"),
    duration(seconds) {
      if (seconds < 0.95) return `${Math.round(seconds * 1000)} ms`;
      if (seconds < 59.5) return `${seconds.toFixed(1)} s`;
      const whole = Math.round(seconds);
      if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
      if (whole < 86400) return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
      return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
    },
    short(seconds) {
      for (const [size, name] of [[86400, "d"], [3600, "h"], [60, "min"]]) {
        if (seconds >= size && seconds % size === 0) return `${seconds / size} ${name}`;
      }
      return `${seconds} s`;
    },
    days: (days) => (days >= 2 ? `${days.toFixed(0)} days` : `${(days * 24).toFixed(0)} hours`),
  },
};
