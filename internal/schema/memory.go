package schema

// purse is what a judgement may still spend, and what it remembers once it has spent much.
type purse struct {
	steps  int // how many more rules may be asked
	alarm  int // when fewer steps than this are left, something has to be done
	memory map[question]answer
}

// question is one rule asked about one value. In a document the answer is always the same.
type question struct {
	rule *rule
	node uint32
}

type answer uint8

const (
	valid    answer = 1 + iota
	invalid         // not valid, and its problems may be unknown
	reported        // not valid, and its problems are in the report
)

func newPurse(d *Doc) purse {
	steps := budget(d)
	return purse{steps: steps, alarm: steps - patience(d)}
}

// refill puts new steps into the purse. What is remembered stays.
func (p *purse) refill(steps int) {
	patience := p.steps - p.alarm
	p.steps = steps
	if p.memory == nil {
		p.alarm = steps - patience
	}
}

// goOn is asked when the alarm went off: at first it begins to remember, and in the end it says false.
func (p *purse) goOn() bool {
	if p.steps < 0 {
		return false
	}
	if p.memory == nil {
		p.memory = make(map[question]answer)
	}
	p.alarm = 0
	return true
}

// recall answers from memory, or asks and remembers. It makes the work at most the number of rules times the number of
// values, however often alternatives and references lead to the same question. A rule that has reported its problems with
// a value does not report them again.
func (v *validator) recall(r *rule, i uint32) bool {
	v.steps -= 10 // a map is slower than most rules
	q := question{r, i}
	switch known := v.memory[q]; {
	case known == valid:
		return true
	case known == reported, known == invalid && !v.collect:
		return false
	}
	loops := v.loops
	ok := v.inspect(r, i)
	if v.steps < 0 {
		return false // broken off: this is no answer
	}
	if loops != v.loops {
		return ok // on another way here the answer may be another
	}
	if len(v.memory) >= maxMemory {
		clear(v.memory)
	}
	switch {
	case ok:
		v.memory[q] = valid
	case v.collect:
		v.memory[q] = reported
	default:
		v.memory[q] = invalid
	}
	return ok
}
