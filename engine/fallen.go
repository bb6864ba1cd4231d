package engine

// Fallen is what made a run fail: the node that did not succeed first, and how many
// more did not.
type Fallen struct {
	NodeKey
	Name  string
	State State // failed, timed out, lost or, where nothing worse happened, stopped
	More  int   // other nodes of the run that did not succeed
}
