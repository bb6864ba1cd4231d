// What the server and its shims say to each other.

#define SHIM_MAKER "dogear-shims" // the name under which this program makes shims
#define SHIM_NAME "dogear-shim"   // the name of a shim among the processes
#define SHIM_SOCKET 3             // of the maker, to its server
#define SHIM_STOP 43            // a signal that nobody else has a use for: the script shall end, and all that it has started
#define SHIM_ASK 44             // another: the script is asked to end
#define SHIM_BEGUN "began"        // stands in front of the exit code once the script may have begun
#define SHIM_CLEAN_AT 10          // the place in that file of
#define SHIM_CLEAN "."            // what says that nothing is left of the script
#define SHIM_WAITS "."            // what a shim says behind the exit code once it waits for the next script
#define SHIM_HEAD 8               // hexadecimal digits of the length in front of what a shim is told

// The files in the folder of a shim.
#define SHIM_WORK "work" // the folder in which the script begins
#define SHIM_OUT "out"   // its output
#define SHIM_ERR "err"   // its errors
#define SHIM_END "end"   // takes its exit code

// The files that a shim is given, in this order.
enum {
	shim_folder,  // its folder
	shim_told,    // says what the script is
	shim_release, // says that it may begin
	shim_over,    // takes the exit code as soon as there is one, for the server that waits
	shim_files
};
