package find

import "strings"

// stopText are words that say nothing about what is wanted.
const stopText = `a an the this that these those there here it its itself i me my mine myself you your yours yourself we our ours us
he him his she her hers they them their theirs who whom whose which what when where why how
am is are was were be been being isnt arent wasnt do does did done doing dont doesnt didnt have has had having havent hasnt
can cant cannot could couldnt will wont would wouldnt shall should shouldnt may might must
im ive id ill youre youve youll were weve lets thats whats theres heres hes shes theyre its
and or but if then else than so because as until while of at by for with without about against between into through during before after
to from in out on off over under again further once up down
not no nor only own same too very just also even still yet ever never any some all both each few more most other others such every either neither
please thanks thank hello hi hey dear greetings ok okay yes oh wow hmm well
want wants wanted need needs needed wish like likes would love hope trying try tried going go goes gonna wanna
able help helps helping helped assist assistance assisting kindly possible let know knows tell get gets getting got give gives giving gave
really actually maybe perhaps probably certainly definitely simply quite rather much many lot lots kind sort type thing things something anything everything someone anyone
one ones two way ways bit etc eg ie via per based regarding related specific specifically particular particularly certain various several different multiple
using use used user users uses within across along around upon toward towards
seem seems make sure need im looking interested curious wondering wonder struggling currently recently
s t d m re ve ll tool tools app apps plugin plugins assistant ai powered api`

// softText are the verbs and nouns of asking: they tell tools apart sometimes,
// and much less than their rarity in short descriptions suggests.
const softText = `find search look show provide recommend recommendation suggest suggestion offer information info detail details check see access
explore discover list display view ask question answer explain understand learn new best good great top popular latest current recent available
easy easily quickly quick fast free online simple perfect interesting fun amazing favorite today day time now people world
create make generate build start set add work working people please problem issue example option options idea ideas advice tip tips
support manage allow enable include retrieve obtain choose select share read review data content service services request enter type name`

func stopWords() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(stopText) {
		out[w] = true
	}
	return out
}

func softWords() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(softText) {
		out[stem(w)] = true
	}
	return out
}
