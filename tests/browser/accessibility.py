"""What people need who do not see a page, see colours otherwise, or have no mouse; asked of the page itself."""

from typing import Any

from playwright.sync_api import Page

STANDS = """
(still) => {
  const app = document.querySelector('[data-testid=stApp]');
  const busy = !app || app.getAttribute('data-test-script-state') !== 'notRunning'
    || document.querySelector('[data-testid=stSkeleton], [data-testid=stStatusWidget], [data-stale=true]');
  const size = document.querySelectorAll('*').length, now = performance.now(), seen = window.augSeen;
  if (busy || !seen || seen.size !== size) { window.augSeen = {size, now}; return false; }
  return now - seen.now >= still;
}
"""
"""True when nothing runs and nothing has been added to the page for so many milliseconds."""

HELPERS = """
const visible = e => {
  const box = e.getBoundingClientRect(), style = getComputedStyle(e);
  return box.width > 1 && box.height > 1 && style.visibility !== 'hidden' && !e.closest('[aria-hidden=true]');
};
const spoken = e => {
  if (e.nodeType === Node.TEXT_NODE) return e.textContent;
  if (e.nodeType !== Node.ELEMENT_NODE || e.getAttribute('aria-hidden') === 'true') return '';
  return e.getAttribute('aria-label') || e.getAttribute('alt') || [...e.childNodes].map(spoken).join(' ');
};
const name = e => {
  const ids = (e.getAttribute('aria-labelledby') || '').split(/\\s+/).filter(Boolean);
  const field = ['INPUT', 'TEXTAREA', 'SELECT', 'CANVAS'].includes(e.tagName);
  const table = e.tagName === 'CANVAS' && e.closest('[role=region][aria-label]');
  if (table) return table.getAttribute('aria-label').trim();
  return [ids.map(id => document.getElementById(id)).filter(Boolean).map(spoken).join(' '), e.getAttribute('aria-label'),
    [...(e.labels || [])].map(spoken).join(' '), field ? '' : spoken(e), e.getAttribute('title')]
    .map(words => (words || '').trim()).find(Boolean) || '';
};
const place = e => {
  const path = [];
  for (let p = e; p && path.length < 3; p = p.parentElement) {
    const key = (p.getAttribute('class') || '').match(/st-key-\\S+/);
    if (key || p.dataset.testid) path.push(key ? key[0] : p.dataset.testid);
  }
  return `${e.tagName.toLowerCase()} in ${path.join(' < ')}: ${(e.textContent || '').trim().slice(0, 40)}`;
};
const CONTROLS = `button, a[href], input:not([type=hidden]), select, textarea, summary, canvas[tabindex],
  [role=button], [role=slider], [role=checkbox], [role=radio], [role=switch], [role=combobox], [role=tab]`;
"""

NAMELESS = (
    "() => {"
    + HELPERS
    + """
  const hidden = e => ['checkbox', 'radio', 'range'].includes(e.type) && !e.closest('[aria-hidden=true]');
  return [...document.querySelectorAll(CONTROLS)].filter(e => (visible(e) || hidden(e)) && !name(e)).map(place);
}"""
)

WORDLESS = (
    "() => {"
    + HELPERS
    + """
  return [...document.querySelectorAll('.js-plotly-plot')].filter(visible).map(plot => {
    const holder = plot.closest('[role=img][aria-label], [role=figure][aria-label], [role=group][aria-label]');
    const words = holder ? holder.getAttribute('aria-label') : '';
    return words.length >= 30 && /\\d/.test(words) ? '' : `${place(plot)} says «${words}»`;
  }).filter(Boolean);
}"""
)

PALE = (
    "() => {"
    + HELPERS
    + """
  const pixel = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = color => {
    pixel.clearRect(0, 0, 1, 1); pixel.fillStyle = color; pixel.fillRect(0, 0, 1, 1);
    const data = pixel.getImageData(0, 0, 1, 1).data;
    return [data[0], data[1], data[2], data[3] / 255];
  };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
  const luminance = color => {
    const [r, g, b] = color.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };
  const lineage = e => { const up = []; for (let p = e; p; p = p.parentElement) up.unshift(p); return up; };
  const ground = (e, box) => {
    const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    let color = [255, 255, 255];
    for (const p of lineage(e)) {
      const own = p.getBoundingClientRect(), style = getComputedStyle(p), fill = rgba(style.backgroundColor);
      // A text may stand outside of what it belongs to, as the value above a slider's handle does.
      const beneath = x >= own.left && x <= own.right && y >= own.top && y <= own.bottom;
      if (fill[3] && (beneath || p.contains(document.body))) color = over([...fill.slice(0, 3), fill[3] * style.opacity], color);
    }
    return color;
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, e = node.parentElement, text = node.textContent.trim();
    if (!text || !visible(e) || e.closest('style, script, canvas, :disabled, [aria-disabled=true], .modebar')) continue;
    if (e.closest('label')?.querySelector(':disabled')) continue;
    const range = document.createRange(); range.selectNodeContents(node);
    const box = range.getBoundingClientRect(), style = getComputedStyle(e), svg = e instanceof SVGElement;
    if (box.width < 2 || style.clip !== 'auto' || style.clipPath !== 'none') continue;
    const ink = rgba(svg ? style.fill : style.color);
    ink[3] *= lineage(e).reduce((product, p) => product * getComputedStyle(p).opacity, svg ? +style.fillOpacity : 1);
    const below = ground(e, box), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) || style.fontFamily.includes('Material');
    const ratio = contrast(over(ink, below), below);
    if (ink[3] && ratio < (large ? 3 : 4.5)) found.set(`${svg ? style.fill : style.color} on ${below.map(Math.round)}`,
      `${ratio.toFixed(2)}: ${place(e)}`);
  }
  return [...found].map(([colors, where]) => `${colors} ${where}`);
}"""
)

FOCUSED = (
    "() => {"
    + HELPERS
    + """
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  if (e.dataset.augReached === 'first') return null;
  e.dataset.augReached = document.querySelector('[data-aug-reached]') ? 'yes' : 'first';
  let ring = '';
  for (let p = e, up = 0; p && up < 4; p = p.parentElement, up += 1) {
    const style = getComputedStyle(p);
    const drawn = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
    if (drawn || (up === 0 && style.boxShadow !== 'none')) ring = ring || 'outline';
  }
  // Fields show it by the colour of their frame, tables by the frame of the open cell.
  const frame = e.closest('[data-testid=stTextInputRootElement], [data-testid=stNumberInputContainer], '
    + '[data-testid=stTextAreaRootElement], [data-baseweb], [role=group], div:has(> input)');
  if (!ring && ['INPUT', 'TEXTAREA'].includes(e.tagName) && frame) ring = 'frame';
  if (!ring && e.closest('[data-testid=stDataFrame]')) ring = 'cell';
  return {ring, where: place(e)};
}"""
)

UNREACHED = (
    "() => {"
    + HELPERS
    + """
  // Of a group that is walked by arrow keys, Tab reaches one.
  const group = e => e.closest('[role=radiogroup], [role=tablist], [role=group], [role=toolbar], [role=grid], nav ul');
  const reached = e => e.dataset.augReached || e.querySelector('[data-aug-reached]') || e.closest('[data-aug-reached]');
  return [...document.querySelectorAll(CONTROLS)].filter(e => visible(e) && !e.disabled && e.tabIndex !== -1
    && !e.closest('[inert], [aria-disabled=true]') && !reached(e)
    && !(group(e) && group(e).querySelector('[data-aug-reached]'))).map(place);
}"""
)


def stand(page: Page, still: int = 700, timeout: int = 60_000) -> None:
    """Wait until the page stands as it will stay."""
    page.wait_for_function(STANDS, arg=still, timeout=timeout, polling=50)


def nameless_controls(page: Page) -> list[str]:
    """Controls and tables that have no name to be called by."""
    return list(page.evaluate(NAMELESS))


def wordless_figures(page: Page) -> list[str]:
    """Figures without a description that holds a number."""
    return list(page.evaluate(WORDLESS))


def pale_texts(page: Page) -> list[str]:
    """Texts whose contrast is below 4.5 (3 for large ones and icons), one per pair of colours."""
    return list(page.evaluate(PALE))


def tab_through(page: Page, most: int = 400) -> tuple[list[str], list[str], list[str]]:
    """Press Tab until the page is through: all that had the focus, what did not show it, what never got it."""
    reached: list[str] = []
    without_ring: list[str] = []
    page.evaluate("document.activeElement?.blur()")
    for _ in range(most):
        page.keyboard.press("Tab")
        focused: dict[str, Any] | None = page.evaluate(FOCUSED)
        if focused is None:
            break
        reached.append(focused["where"])
        if not focused["ring"]:
            without_ring.append(focused["where"])
    return reached, without_ring, list(page.evaluate(UNREACHED))
