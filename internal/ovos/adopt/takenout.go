package adopt

import (
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// takenOut is a file that a person changed, without what Apply wrote there.
func (f recordFile) takenOut(now []byte) (out []byte, err error) {
	if f.Kind == kindMycroft {
		return switchBack(now, f.Was)
	}
	out = now
	if f.Item {
		if out, _, err = config.RemoveItem(out, []string{"bus", "mycroft"}, settings.MycroftAuto); err != nil {
			return nil, err
		}
	}
	if f.Python != "" {
		if out, _, err = config.RemoveEntry(out, "python", f.Python); err != nil {
			return nil, err
		}
	}
	return out, nil
}
