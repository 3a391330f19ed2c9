"""Lines as SVG, which needs no package."""
import html

COLOURS = ("#2060a0", "#c04020", "#308030", "#8040a0", "#888888")
WIDTH, HEIGHT, LEFT, TOP = 560, 300, 60, 40


def lines(title, ticks, curves, least=0, step=0.25):
    """curves: {name: [(x, y)]}, with x from 0 to 1 and y from `least` to 1, which is printed as 100 %; ticks: [(x, text)] below; step: of the
    lines across."""
    def at(x, y):
        return f"{LEFT + WIDTH * x:.1f},{TOP + HEIGHT * (1 - y) / (1 - least):.1f}"
    rows = (len(curves) + 1) // 2
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {TOP + HEIGHT + 66 + 22 * rows}" font-family="sans-serif" font-size="13">',
             '<rect width="100%" height="100%" fill="#ffffff"/>', f'<text x="{LEFT}" y="22" font-size="12">{html.escape(title)}</text>']
    for y in (least + step * k for k in range(round((1 - least) / step) + 1)):
        x, line = at(0, y).split(",")
        parts.append(f'<path d="M{x},{line}h{WIDTH}" stroke="#dddddd"/><text x="{LEFT - 8}" y="{float(line) + 4}" text-anchor="end">{100 * y:.0f} %</text>')
    for place, text in ticks:
        x, line = at(place, least).split(",")
        parts.append(f'<text x="{x}" y="{float(line) + 18}" text-anchor="middle">{text}</text>')
    parts.append(f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">evaluations</text>')
    for k, (name, points) in enumerate(curves.items()):
        colour = COLOURS[k % len(COLOURS)]
        x, y = LEFT + (k % 2) * WIDTH / 2, TOP + HEIGHT + 66 + 22 * (k // 2)
        parts.append(f'<polyline points="{" ".join(at(*p) for p in points)}" fill="none" stroke="{colour}" stroke-width="2"/><path d="M{x},{y - 4}h24" '
                     f'stroke="{colour}" stroke-width="2"/><text x="{x + 32}" y="{y}">{html.escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
