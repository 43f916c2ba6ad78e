package telemetry

import (
	"bytes"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// contentType is that of the text format, which every version of Prometheus reads.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// ServeHTTP answers with all numbers. Who may ask is decided before it.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET is taken here", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(m.Text()) // who asked has gone, if this fails
}

// Text gives all numbers in the text format.
func (m *Metrics) Text() []byte {
	var b bytes.Buffer
	for _, f := range m.families {
		f.write(&b)
	}
	return b.Bytes()
}

// write writes one family, unless it has no numbers yet.
func (f *family) write(b *bytes.Buffer) {
	var lines bytes.Buffer
	if f.read != nil {
		f.read(func(value float64, of ...string) { f.line(&lines, "", labelsOf(of), "", value) })
	}
	list, all := f.numbers()
	for _, of := range list {
		s := all[of]
		if f.kind != histogram {
			f.line(&lines, "", of, "", float64(s.count.Load()))
			continue
		}
		// The count is read first and is the last bucket: what comes meanwhile must
		// not make it smaller than one before it.
		count, sum, below := s.count.Load(), math.Float64frombits(s.sum.Load()), uint64(0)
		for i := range s.buckets {
			below = min(below+s.buckets[i].Load(), count)
			f.line(&lines, "_bucket", of, number(f.bounds[i]), float64(below))
		}
		f.line(&lines, "_bucket", of, "+Inf", float64(count))
		f.line(&lines, "_sum", of, "", sum)
		f.line(&lines, "_count", of, "", float64(count))
	}
	if lines.Len() == 0 {
		return
	}
	b.WriteString("# HELP " + f.name + " " + strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(f.help) + "\n")
	b.WriteString("# TYPE " + f.name + " " + f.kind + "\n")
	b.Write(lines.Bytes())
}

// line writes one number; le is the bound of a bucket.
func (f *family) line(b *bytes.Buffer, suffix string, of labels, le string, value float64) {
	b.WriteString(f.name + suffix)
	sep := byte('{')
	label := func(name, text string) {
		b.WriteByte(sep)
		b.WriteString(name + `="`)
		b.WriteString(strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(strings.ToValidUTF8(text, "\ufffd")))
		b.WriteByte('"')
		sep = ','
	}
	for i, name := range f.labels {
		label(name, of[i])
	}
	if le != "" {
		label("le", le)
	}
	if sep == ',' {
		b.WriteByte('}')
	}
	b.WriteString(" " + number(value) + "\n")
}

// number writes a number as the format wants it.
func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	case math.IsNaN(v):
		return "NaN"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
