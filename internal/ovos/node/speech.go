package node

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/spoken"
)

// speech is how what was not done is told to people on a bus. Where no directory is
// granted at all, that is what they are told of a path.
func speech(lang string, crib *toolcrib.Crib) host.Speech {
	granted := func(s spoken.Sentence) spoken.Sentence {
		if s.Key == spoken.Outside && len(crib.Grant.Dirs) == 0 {
			s.Key = spoken.NoDirectory
		}
		return s
	}
	return host.Speech{
		Lang: lang, Placed: dialect.OVOSPlaced,
		Refusal: func(e *toolcrib.Error) (spoken.Sentence, bool) {
			s, ours := dialect.OVOSRefusal(e)
			return granted(s), ours
		},
		Failure: func(tool toolcrib.Entry, answer json.RawMessage) (spoken.Sentence, bool) {
			s, failed := dialect.OVOSFailure(tool, answer)
			return granted(s), failed
		},
	}
}

// tellStart tells whoever starts a host what will not work: tools for files without a
// directory, and toolboxes that a mycroft.conf configures and nobody here serves.
func (h *Hosted) tellStart(cfg settings.Config, on settings.Bus, needs HostNeeds) {
	log := needs.Crib.Log
	if cfg.Toolboxes.Files.Enabled && len(needs.Crib.Grant.Dirs) == 0 {
		log.Warn("no directory is granted, so that the tools for files reach none: name one in grant.write or grant.read, or start this in the directory that they may have")
	}
	if needs.Sections == nil || len(on.Mycroft) == 0 {
		return
	}
	sections, err := needs.Sections(on)
	if errors.Is(err, ErrToolsDisabled) {
		return // it was told when the settings were taken
	}
	if err != nil {
		log.Warn("mycroft.conf cannot be read anew", "err", err)
		return
	}
	maps.DeleteFunc(sections, func(_ string, section json.RawMessage) bool { return section == nil }) // switched off there
	var ids []string
	for _, box := range needs.Boxes() {
		ids = append(ids, box, h.boxID(box))
	}
	for _, id := range unserved(slices.Collect(maps.Keys(sections)), ids) {
		log.Warn("mycroft.conf configures a toolbox that is not served here: an interpreter under python with opm: true serves what is installed for it, or another host on the bus has it", "toolbox", id)
	}
}
