package health

// words say in plain language what a check is about, and what a person can do
// where it fails. The checks themselves report and never repair.
type words struct{ holds, fails, do string }

// plain are the words for each check, by its id.
var plain = map[string]words{
	"I1": {
		"Every script that runs is known.", "A script runs that no attempt knows of.",
		"End the process on its host. Nothing of what it writes is used.",
	},
	"I2": {
		"What has ended stays ended.", "An attempt has ended more than once.",
		"Look in the target of the job for rows that stand twice, and remove them or run the job again with a merge.",
	},
	"I3": {
		"A trigger decides once.", "A trigger has fired, and was given up as well.",
		"Look in the run whether something works that should not, and stop the run if so.",
	},
	"I4": {
		"A run ends together with its last job.", "A run and its jobs do not agree on whether it is over.",
		"Stop the run where it is open still, then go on from it with Resume.",
	},
	"I5": {
		"Every slot that is taken does work.", "Slots are taken by nothing, so fewer jobs work at once than could.",
		"Restart this server when it suits: it counts its slots anew. Scripts go on meanwhile.",
	},
	"I6": {
		"The story of a run has no gap.", "An event of a run is missing, so an open page may show less than happened.",
		"Load the page of the run again: it then comes from the database and not from its events.",
	},
	"I7": {
		"A bookmark stands where its history ends.", "A bookmark and its history do not agree on how far it has read.",
		"Pause the bookmark, compare its versions, and rewind it to the one that is right.",
	},
	"I8": {
		"A job is written to by one server at a time.", "A server wrote to a job that another had taken over.",
		"Check the target of the job for what was written twice, and the clocks and the load of both servers.",
	},
	"I9": {
		"A due time starts one run.", "One due time of a schedule has started several runs.",
		"Stop those that are too many, and look at what they have written.",
	},
	"I10": {
		"Nothing is forgotten: what is open is worked on, or waits its turn.", "A job is open, and nobody works on it.",
		"Stop the run and go on from it with Resume. If it happens again, restart this server.",
	},
	"I11": {
		"What is told to stop does.", "A job was told to stop and goes on.",
		"Look on its host for the process, and end it there.",
	},
	"I12": {
		"A script leaves nothing behind.", "Something of a script goes on after its end.",
		"End the processes on their host that are named here.",
	},
}

// wordsOf are the words for a check. One that has none yet says its rule.
func wordsOf(id, rule string) words {
	if w, ok := plain[id]; ok {
		return w
	}
	return words{holds: rule, fails: rule, do: "Tell those who look after this server."}
}
