// The icons of lucide that pages use, by name. A name that is missing here
// shows as an empty square; views/show has a test that compares both lists.
export const icons = [
  "activity", "arrow-down", "arrow-left", "arrow-right", "ban", "bell", "bookmark", "bookmark-check", "bookmark-x",
  "calendar-clock", "chart-no-axes-gantt", "check", "chevron-down", "chevron-left", "chevron-right", "chevron-up",
  "circle", "circle-check", "circle-dashed", "circle-help", "circle-user-round", "circle-x", "clock", "columns-3", "command", "copy",
  "corner-down-left", "database", "download", "ellipsis", "ellipsis-vertical", "eraser", "external-link", "eye", "file",
  "file-code-2", "file-down", "file-input", "file-output", "file-plus", "file-search", "focus", "folder", "folder-input",
  "fast-forward", "folder-open", "folder-output", "folder-plus", "git-branch", "git-compare", "git-merge", "grip-vertical", "hand", "history",
  "hourglass", "inbox", "info", "key-round", "keyboard", "layers", "layout-dashboard", "link", "list", "list-restart", "list-tree",
  "loader", "loader-circle", "lock", "log-out", "map", "maximize", "menu", "minus", "moon", "mouse-pointer-2",
  "mouse-pointer-click", "move", "network", "panel-left", "panel-right", "pause", "pencil", "play", "plug", "plus", "power",
  "power-off", "radar", "redo-2", "refresh-cw", "rewind", "rotate-ccw", "save", "scan", "search", "send", "server", "settings",
  "shield-alert", "shield-check", "skip-forward", "sliders-horizontal", "square", "sticky-note", "sun", "sun-moon", "table",
  "table-2", "tag", "terminal", "timer", "trash-2", "triangle-alert", "undo-2", "unlink", "unplug", "upload", "variable", "waypoints",
  "workflow", "wrap-text", "x", "zap", "zoom-in", "zoom-out",
];
