package app

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"dogear/engine"
	"dogear/engine/flow"
	"dogear/handlers/web"
)

// metrics are what /metrics shows.
type metrics struct {
	registry *prometheus.Registry
	runs     *prometheus.CounterVec
	nodes    *prometheus.CounterVec
	rows     prometheus.Counter
	bytes    prometheus.Counter
	late     prometheus.Histogram // of runs
	begun    prometheus.Histogram // of their work
	overdue  prometheus.Gauge
	broken   *prometheus.GaugeVec
}

// lateBuckets reach from what nobody notices to what somebody should have been
// told of.
var lateBuckets = []float64{.005, .01, .05, .1, .5, 1, 5, 30, 60, 300, 900, 3600, 14400}

func newMetrics(registry *prometheus.Registry) *metrics {
	m := &metrics{
		registry: registry,
		runs:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "dogear_runs_ended_total", Help: "Runs that ended, by outcome."}, []string{"outcome"}),
		nodes:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "dogear_node_runs_ended_total", Help: "Attempts of jobs and crawlers that ended, by state."}, []string{"state"}),
		rows:     prometheus.NewCounter(prometheus.CounterOpts{Name: "dogear_rows_read_total", Help: "Rows that jobs have read."}),
		bytes:    prometheus.NewCounter(prometheus.CounterOpts{Name: "dogear_bytes_read_total", Help: "Bytes of input that jobs have read."}),
	}
	m.late = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "dogear_schedule_lateness_seconds", Help: "How long after its due time the run of a schedule was made.",
		Buckets: lateBuckets,
	})
	m.begun = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "dogear_schedule_start_lateness_seconds", Help: "How long after the due time of its schedule a job or crawler that the schedule starts began to work.",
		Buckets: lateBuckets,
	})
	m.overdue = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "dogear_schedule_overdue_seconds", Help: "How long the schedule that waits longest has been waiting for its run, or for that to begin to work; looked at once a minute.",
	})
	m.broken = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "dogear_checks_broken", Help: "Places at which something that must hold does not, by check."}, []string{"check"})
	registry.MustRegister(m.broken, m.runs, m.nodes, m.rows, m.bytes, m.late, m.begun, m.overdue, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// count adds what a transition has ended.
func (m *metrics) count(w flow.Writes) {
	if w.Fire != nil && !w.Fire.Due.IsZero() { // events are due at no time
		m.late.Observe(w.Run.Started.Sub(w.Fire.Due).Seconds())
	}
	if !w.Run.Open() {
		m.runs.WithLabelValues(string(w.Run.Outcome)).Inc()
	}
	for _, n := range w.Nodes {
		if w.Run.Scheduled() && n.Attempt == 1 && n.By == w.Run.Trigger {
			m.begins(&w, &n)
		}
		if !n.State.Done() {
			continue
		}
		m.nodes.WithLabelValues(string(n.State)).Inc()
		m.rows.Add(float64(n.Counts.RowsIn))
		m.bytes.Add(float64(n.Counts.BytesIn))
	}
}

// begins observes how late a node began to work that its schedule starts.
func (m *metrics) begins(w *flow.Writes, n *engine.NodeRun) {
	if n.State == engine.Running {
		b := engine.Beginning{Due: w.Run.Due, Made: w.Run.Started, Began: n.Started, Held: n.Held}
		m.begun.Observe(b.Late(n.Started).Seconds())
	}
}

// healthRoutes are for machines: whether the process lives, whether it can
// work, and its metrics. They show nothing of what it works on.
func (h *house) healthRoutes() []web.Route {
	scrape := promhttp.HandlerFor(h.metrics.registry, promhttp.HandlerOpts{})
	return []web.Route{
		{Method: http.MethodGet, Path: "/healthz", Public: true, Handler: func(c web.Ctx) error {
			return c.String(http.StatusOK, "ok\n")
		}},
		{Method: http.MethodGet, Path: "/readyz", Public: true, Handler: func(c web.Ctx) error {
			if err := h.store.Ping(c.Request().Context()); err != nil {
				h.log.Error("the database does not answer", "err", err)
				return c.String(http.StatusServiceUnavailable, "the database does not answer\n")
			}
			if err := h.exec.Outgrew(); err != nil {
				return c.String(http.StatusServiceUnavailable, engine.MessageOf(err)+"\n")
			}
			return c.String(http.StatusOK, "ready\n")
		}},
		{Method: http.MethodGet, Path: "/metrics", Public: true, Handler: func(c web.Ctx) error {
			scrape.ServeHTTP(c.Response(), c.Request())
			return nil
		}},
	}
}
