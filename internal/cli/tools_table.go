package cli

import (
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// toolRow is one tool of the list.
type toolRow struct{ name, box, effects, about string }

const (
	gap         = 2  // columns between two cells
	leastName   = 24 // columns for names, whatever the screen
	mostBox     = 16
	leastAbout  = 60 // with less room for descriptions, the columns between are left out
	aboutIndent = 4  // of what does not fit beside a long name
)

// toolLines lists tools on a screen, one line each. No name is cut, since it is typed
// elsewhere: a long one has a line for itself. 'toolcrib tools NAME' tells the rest.
func toolLines(rows []toolRow, wide int) []string {
	rows = append([]toolRow{{"NAME", "BOX", "EFFECTS", "DESCRIPTION"}}, rows...)
	names, boxes, effects := 0, 0, 0
	most := max(leastName, wide/4)
	for i := range rows {
		r := &rows[i]
		r.name, r.box, r.effects, r.about = text.ShowLine(r.name), text.ClipWidth(text.ShowLine(r.box), mostBox), text.ShowLine(r.effects), text.ShowLine(r.about)
		if w := text.Width(r.name); w <= most {
			names = max(names, w)
		}
		boxes, effects = max(boxes, text.Width(r.box)), max(effects, text.Width(r.effects))
	}
	names, boxes, effects = names+gap, boxes+gap, effects+gap
	if wide-names-boxes-effects < leastAbout {
		boxes, effects = 0, 0
	}
	var lines []string
	for _, r := range rows {
		at, line := names, text.Pad(r.name, names)
		if text.Width(r.name)+gap > names {
			lines = append(lines, r.name)
			at, line = aboutIndent, strings.Repeat(" ", aboutIndent)
			if boxes > 0 { // below the others
				at, line = names, strings.Repeat(" ", names)
			}
		}
		if boxes > 0 {
			line += text.Pad(r.box, boxes) + text.Pad(r.effects, effects)
			at += boxes + effects
		}
		lines = append(lines, strings.TrimRight(line+text.ClipWidth(r.about, max(1, wide-at)), " "))
	}
	return lines
}
