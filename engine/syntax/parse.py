# Reads scripts as a JSON list, compiles each and says what is wrong with it.
# compile makes bytecode and runs none of it.
import json
import sys

try:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
except (ImportError, OSError, ValueError):
    pass  # not every system bounds a process so; there is the time limit


def wrong(script):
    try:
        compile(script.encode(), "script.py", "exec", dont_inherit=True)
    except SyntaxError as e:
        return {"message": str(e.msg)[:500], "line": e.lineno or 0, "column": e.offset or 0}
    except ValueError as e:  # a null byte, or a lone surrogate
        return {"message": str(e)[:500]}
    except (MemoryError, RecursionError):
        pass  # too much for here is not wrong
    return {}


json.dump([wrong(script) for script in json.load(sys.stdin)], sys.stdout)
