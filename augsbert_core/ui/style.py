"""What the theme in .streamlit/config.toml cannot say, in one place: spacing, and the emphasised step."""

import streamlit as st

SIDEBAR_WIDTH = 250

FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" '
    'fill="#0f6b6b"/><circle cx="25" cy="32" r="13" fill="#e0ab48"/><circle cx="40" cy="32" r="13" '
    'fill="#c3d3e3" fill-opacity="0.85"/></svg>'
)
"""Gold and silver overlapping. An image of our own: Streamlit fetches named icons for it from the net."""

LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 250 40"><circle cx="15" cy="20" r="11" '
    'fill="#d9951a"/><circle cx="28" cy="20" r="11" fill="#7f9fbd" fill-opacity="0.85"/>'
    '<text x="50" y="27" font-family="Georgia, serif" font-size="19" font-weight="600" textLength="194" '
    'lengthAdjust="spacingAndGlyphs" fill="#2c8c86">AugSBERT Workbench</text></svg>'
)

BUTTON, RING = "#17756f", "#2c8c86"
"""The ground of white text on buttons, and the ring around what has the focus; in both themes."""

DARK_PRIMARY = "rgb(43, 150, 141)"
"""The primary colour of the dark theme, as Streamlit writes it into a badge."""

STYLE = (
    """
<style>
.stMainBlockContainer { padding-left: 3rem; padding-right: 3rem; max-width: 1280px; }
/* Captions and key hints of Streamlit are paler than small text may be; so are the texts of figures. */
[data-testid="stCaptionContainer"], kbd[aria-label^="Shortcut"] { opacity: 0.78; }
.stPlotlyChart :is([class*="tick"] text, text[class*="title"], .annotation-text, .legendtext) {
  fill: currentColor !important; opacity: 0.85; }
/* White on the dark theme's primary colour would be too pale; this ground serves both themes. */
:is([data-testid^="stBaseButton-primary"]:not(:disabled), [data-testid="stMultiSelectTagsContainer"] [data-tag]) {
  background-color: BUTTON; border-color: BUTTON; color: #fff; }
[data-testid^="stBaseButton-primary"]:not(:disabled):hover { filter: brightness(0.88); }
:is([data-variant="segmented_control"], [data-variant="pills"])[data-selected="true"],
.stMarkdownBadge[style*="color: DARK_PRIMARY"] {
  color: inherit !important; }
/* Whoever goes by keyboard sees where they are. */
:is(a, button, summary, canvas, [tabindex="0"]):focus-visible, :has(> * > [type="range"]:focus-visible),
label:has(:is([type="checkbox"], [type="radio"]):focus-visible) {
  outline: 2px solid RING !important; outline-offset: 2px; }
canvas:focus-visible, .stMain:focus-visible { outline-offset: -2px; }
.st-key-checklist-next { border-radius: 0.5rem;
  background: color-mix(in srgb, #2c8c86 12%, transparent); }
[class*="st-key-checklist-"] { padding: 0.3rem 0.6rem; }
.st-key-silver-walk-list button { justify-content: flex-start; padding: 0.1rem 0.7rem; }
</style>
""".replace("BUTTON", BUTTON)
    .replace("RING", RING)
    .replace("DARK_PRIMARY", DARK_PRIMARY)
)


def dress_page() -> None:
    """Apply the style and show the name of the workbench above the menu."""
    st.html(STYLE)
    st.logo(LOGO, size="large", icon_image=FAVICON)
