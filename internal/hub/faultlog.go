package hub

import "github.com/toolcrib/toolcrib"

// FaultLog keeps a mistake in one file from being logged again whenever another one is
// saved. One that was mended and comes back is told again.
type FaultLog struct{ last map[string]int }

// faultRounds is after how many reloads without it a fault counts as mended: not every
// reload looks at everything.
const faultRounds = 3

// News are those that were not among the last ones.
func (l *FaultLog) News(faults []toolcrib.LoadError) (news []toolcrib.LoadError) {
	kept := map[string]int{}
	for text, age := range l.last {
		if age+1 < faultRounds {
			kept[text] = age + 1
		}
	}
	for _, f := range faults {
		if _, old := l.last[f.Error()]; !old {
			news = append(news, f)
		}
		kept[f.Error()] = 0
	}
	l.last = kept
	return news
}
