// The picture of a head, seen from above, with the contact of each electrode.

import { drawing } from "./dom.js";
import { text } from "./text.js";

const SIGNS = { good: "✓", lineNoise: "~", flat: "–", railed: "!", poorContact: "?", noContact: "×" };

/** A drawing of electrodes: `{ name, x, y, condition }`, x to the right and y to the front, 1 at the rim of the head. */
export function head(name, electrodes) {
  const marks = electrodes.map((electrode) => {
    const condition = electrode.condition ?? "unknown";
    const [x, y] = [100 + electrode.x * 76, 108 - electrode.y * 76];
    return drawing(
      "g", { class: `electrode ${condition}` },
      drawing("circle", { cx: x, cy: y, r: 13 }),
      drawing("text", { x, y: y - 1, "text-anchor": "middle", class: "name" }, electrode.name),
      drawing("text", { x, y: y + 9, "text-anchor": "middle", class: "sign" }, SIGNS[condition] ?? ""));
  });
  const words = electrodes.map((each) => `${each.name}: ${text.conditions[each.condition] ?? text.now.unknown}`);
  return drawing(
    "svg", { viewBox: "0 0 200 210", class: "head", role: "img", "aria-label": `${text.now.head(name)}. ${words.join(", ")}` },
    drawing("path", { d: "M86 30 L100 10 L114 30", class: "outline" }),
    drawing("circle", { cx: 100, cy: 108, r: 80, class: "outline" }),
    drawing("path", { d: "M19 95 q-9 13 0 26 M181 95 q9 13 0 26", class: "outline" }),
    marks);
}
