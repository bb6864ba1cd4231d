// Package health shows whether everything holds that must.
package health
