// What the server and its shims say to each other.

#define SHIM_MAKER "dogear-shims" // the name under which this program makes shims
#define SHIM_NAME "dogear-shim"   // the name of a shim among the processes
#define SHIM_SOCKET 3             // of the maker, to its server
#define SHIM_STOP 43            // a signal that nobody else has a use for: the script shall end, and all that it has started
#define SHIM_BEGUN "began"        // stands in front of the exit code once the script may have begun
#define SHIM_CLEAN_AT 10          // the place in that file of
#define SHIM_CLEAN "."            // what says that nothing is left of the script
#define SHIM_HEAD 8               // hexadecimal digits of the length in front of what a shim is told

// The files that a shim is given, in this order.
enum {
	shim_work,    // the folder in which the script begins
	shim_out,     // its output
	shim_err,     // its errors
	shim_end,     // takes its exit code
	shim_told,    // says what it is
	shim_release, // says that it may begin
	shim_over,    // takes the exit code as soon as there is one, for the server that waits
	shim_files
};
