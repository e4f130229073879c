// The texts of the page whose colour is too near to what is behind them (WCAG 2.2, level AA).
const channel = (value) => {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};
const luminance = ([red, green, blue]) => 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
const parse = (colour) => {
  const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
  return { rgb: [red, green, blue], alpha };
};
const behind = (element) => {
  for (let node = element; node; node = node.parentElement) {
    if (node instanceof SVGRectElement) continue;
    const { rgb, alpha } = parse(getComputedStyle(node).backgroundColor);
    if (alpha === 1) return rgb;
  }
  return null;
};
const boxes = (element) => {
  const svg = element.closest("svg");
  return svg && svg.querySelector(".box") ? parse(getComputedStyle(svg.querySelector(".box")).fill).rgb : null;
};
const found = [];
let count = 0;
for (const element of document.body.querySelectorAll("*")) {
  const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!text || !element.getClientRects().length || element.closest(".skip")) continue;
  const style = getComputedStyle(element);
  const inDrawing = element instanceof SVGElement && !(element instanceof SVGSVGElement);
  if (element.tagName.toLowerCase() === "title") continue;
  const front = parse(inDrawing ? style.fill : style.color).rgb;
  const back = boxes(element) || behind(element);
  const [light, dark] = [luminance(front), luminance(back || [0, 0, 0])].sort((a, b) => b - a);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  const ratio = (light + 0.05) / (dark + 0.05);
  count += 1;
  if (!back || ratio < (large ? 3 : 4.5)) found.push([element.tagName, element.textContent.slice(0, 40), ratio.toFixed(2)]);
}
return { found, count };
