// Every word that the page says by itself; sentences about headsets come from the program, as `eegsync status` has them.

export const text = {
  skip: "To the content",
  pages: { now: "Now", signals: "Signals", history: "History" },
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
    gap: (length, ago, cause) => `${length}, ${ago} ago: ${cause}`,
    missing: (count) => `${count} samples missing so far`,
    contacts: (good, all) => `${good} of ${all} electrodes good`,
    noContactKnown: "not measured",
    head: (name) => `Electrodes of ${name}, seen from above`,
    elsewhere: "Electrodes without a known position: ",
    daemon: (pid) => (pid ? `eegsync run has pid ${pid}` : "eegsync run does not run"),
    disk: (bytes, free, days) =>
      `database ${bytes}` + (free ? `, ${free} free` : "") + (days ? ` (${days} at the present rate)` : ""),
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
    percent: (value) => `${value.toFixed(0)} %`,
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
    days: (days) => (days >= 2 ? `${days.toFixed(0)} days` : `${(days * 24).toFixed(0)} hours`),
  },
};
