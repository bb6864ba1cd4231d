const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

// clockOf is a moment as the clock of whoever looks shows it.
export const clockOf = (at: Date): string => clock.format(at);
