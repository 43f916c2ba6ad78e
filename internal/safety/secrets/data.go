package secrets

import "strings"

// dataLeast is how long a run of base64 is that is data: a picture, a page, a file.
// Among so many letters everything stands that looks like a token.
const dataLeast = 512

// outsideData leaves out what was found inside of data, or begins there. A value that
// is known, or a key in its frame, is one wherever it stands; so is a token with a sign
// that the base64 of files has not, if it was put into it.
func outsideData(found []Finding, text string) []Finding {
	var run dataRun // the last one
	out := found[:0]
	for _, f := range found {
		if f.Start < run.from || f.Start >= run.to {
			run = runAt(text, f.Start)
		}
		if !run.has(f, text) || f.Rule == RuleKnown || f.Rule == ruleKey {
			out = append(out, f)
		}
	}
	return out
}

// dataRun is a run of base64 in a text.
type dataRun struct {
	from, to int
	media    bool // it begins as a file that people look at or listen to
	varied   bool // it has most letters, as what is encoded has
}

func runAt(text string, at int) dataRun {
	r := dataRun{from: at, to: at}
	for r.from > 0 && inBase64(text[r.from-1]) {
		r.from--
	}
	for r.to < len(text) && inBase64(text[r.to]) {
		r.to++
	}
	if r.to-r.from < dataLeast {
		return r
	}
	r.media = media(text[r.from:r.to])
	var seen [256]bool
	letters := 0
	for i := r.from; i < r.to && letters < variedLeast; i++ {
		if !seen[text[i]] {
			seen[text[i]] = true
			letters++
		}
	}
	r.varied = letters == variedLeast
	return r
}

// variedLeast is how many of the 64 letters data has at least.
const variedLeast = 45

func (r *dataRun) has(f Finding, text string) bool {
	if r.to-r.from < dataLeast || f.Start < r.from || f.Start >= r.to {
		return false
	}
	return r.media || r.varied && f.Start > r.from && !strings.ContainsAny(text[f.Start:min(f.End, r.to)], "_-")
}

func inBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '_' || c == '-' || c == '='
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
