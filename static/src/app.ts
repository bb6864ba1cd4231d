// What every page runs: htmx, the live socket and a few small behaviours that
// are asked for by data attributes.
import "htmx.org";
import { startCells } from "./cells";
import { startDays } from "./days";
import { startDialogs } from "./dialog";
import { startEditors, startForms } from "./editor";
import { startLag } from "./lag";
import { startLive } from "./live";
import { startNames } from "./names";
import { startOnce } from "./once";
import { startPalette } from "./palette";
import { startTheme } from "./theme";
import { startTimes } from "./time";
import { startTitle } from "./title";
import { startToasts } from "./toast";
import { startUnsaved } from "./unsaved";

// A menu that somebody has opened stays so when what is around it is drawn again.
window.htmx?.config.morphIgnore.push("open");

startTheme();
startTimes();
startTitle();
startToasts();
startCells();
startDays();
startDialogs();
startEditors();
startForms();
startNames();
startOnce();
startPalette();
startLag();
startUnsaved();
startLive();
