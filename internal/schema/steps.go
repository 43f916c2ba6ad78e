package schema

// stepBudget is what a judgement may still spend, and what it remembers once it has spent much.
type stepBudget struct {
	steps      int // how many more rules may be asked
	rememberAt int // when fewer steps than this are left, answers are remembered
	memory     map[ruleQuestion]ruleAnswer
}

// ruleQuestion is one rule asked about one value. In a document the answer is always the same.
type ruleQuestion struct {
	rule *rule
	node uint32
}

type ruleAnswer uint8

const (
	valid    ruleAnswer = 1 + iota
	invalid             // not valid, and its problems may be unknown
	reported            // not valid, and its problems are in the report
)

func newStepBudget(d *Doc) stepBudget {
	steps := budget(d)
	return stepBudget{steps: steps, rememberAt: steps - patience(d)}
}

// refill allows new steps. What is remembered stays.
func (p *stepBudget) refill(steps int) {
	patience := p.steps - p.rememberAt
	p.steps = steps
	if p.memory == nil {
		p.rememberAt = steps - patience
	}
}

// stepsLeft is asked when fewer than rememberAt steps are left: at first it begins to remember, and in the end it says false.
func (p *stepBudget) stepsLeft() bool {
	if p.steps < 0 {
		return false
	}
	if p.memory == nil {
		p.memory = make(map[ruleQuestion]ruleAnswer)
	}
	p.rememberAt = 0
	return true
}

// recall answers from memory, or asks and remembers. It makes the work at most the number of rules times the number of
// values, however often alternatives and references lead to the same question. A rule that has reported its problems with
// a value does not report them again.
func (v *validator) recall(r *rule, i uint32) bool {
	v.steps -= 10 // a map is slower than most rules
	q := ruleQuestion{r, i}
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
