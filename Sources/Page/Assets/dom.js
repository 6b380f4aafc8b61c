// Makes elements. Nothing is ever parsed as HTML, so no word of a headset or a person can become markup.

/** An element with attributes (or listeners: `onclick`) and children; null children are left out. */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function drawing(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** Sets the text of an element only where it changed, so that a screen reader does not read it again. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Replaces what is in an element. */
export function show(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
}

/** Makes a node like another one, and touches only what differs: the focus stays, and so does text that is being selected. */
export function renew(node, next) {
  if (node.isEqualNode(next)) return;
  if (node.nodeName !== next.nodeName) return node.replaceWith(next);
  if (node.nodeType === Node.TEXT_NODE) {
    node.data = next.data;
    return;
  }
  for (const { name } of [...node.attributes]) if (!next.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of next.attributes) if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  const [known, wanted] = [[...node.childNodes], [...next.childNodes]];
  known.slice(wanted.length).forEach((child) => child.remove());
  wanted.forEach((child, index) => (index < known.length ? renew(known[index], child) : node.append(child)));
}
