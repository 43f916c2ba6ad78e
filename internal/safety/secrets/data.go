package secrets

import (
	"strings"

	shown "github.com/toolcrib/toolcrib/internal/text"
)

// outsideData leaves out what was found inside of a long run of base64, or begins
// there: among so many letters everything stands that looks like a token. A value that
// is known, or a key in its frame, is one wherever it stands; so is a token with a sign
// that the base64 of files has not, if it was put into it.
func outsideData(found []Finding, text string) []Finding {
	var run dataRun // the last one
	out := found[:0]
	for _, f := range found {
		if f.Start < run.from || f.Start >= run.to {
			run = runAt(text, f.Start)
		}
		if !run.has(f, text) || f.Rule == RuleKnown || f.Rule == ruleKey || byName(f.Rule) && !run.media {
			out = append(out, f)
		}
	}
	return out
}

// byName reports whether a rule goes by what stands before a secret, and not by its
// look.
func byName(rule string) bool {
	switch rule {
	case ruleAssigned, ruleHeader, ruleURL, ruleCommand, "aws-session-token":
		return true
	}
	return false
}

// dataRun is a run of base64 in a text.
type dataRun struct {
	from, to int
	media    bool // it begins as a file that people look at or listen to
	varied   bool // it has most letters, as what is encoded has
}

func runAt(text string, at int) dataRun {
	var r dataRun
	r.from, r.to = shown.Base64Run(text, at)
	run := text[r.from:r.to]
	r.varied = shown.IsData(run)
	r.media = len(run) >= mediaLeast && media(run)
	return r
}

// mediaLeast is how long a picture is at least.
const mediaLeast = 256

func (r *dataRun) has(f Finding, text string) bool {
	return r.media || r.varied && f.Start > r.from && !strings.ContainsAny(text[f.Start:min(f.End, r.to)], "_-")
}

// media reports whether base64 begins as a picture, a sound, a document or an archive
// does.
func media(run string) bool {
	for _, begin := range [...]string{
		"iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "Qk0", "SUkq", "TU0AK", "AAABAA", // PNG, JPEG, GIF, RIFF (WebP, WAV), BMP, TIFF, ICO
		"JVBERi0", "UEsDB", "H4sI", "QlpoO", "N3q8rycc", // PDF, ZIP, gzip, bzip2, 7z
		"SUQz", "//uQ", "//sQ", "T2dnUw", "ZkxhQ", "GkXfo", // MP3, Ogg, FLAC, WebM
	} {
		if strings.HasPrefix(run, begin) {
			return true
		}
	}
	return len(run) > 12 && run[:3] == "AAA" && strings.Contains(run[:12], "ZnR5c") // MP4
}
