// SPDX-License-Identifier: GPL-2.0-only
/*
 * The picture: a still window of each act, and below them the whole run. In a viewer
 * that runs scripts (any browser) the reader can zoom the whole run.
 */

#include <stdlib.h>

#include "demo.h"

#define WIDTH		1600
#define LEFT		150
#define RIGHT		1580
#define TOP		96
#define ROW		34
#define ROWS		5
#define PANEL		(ROWS * ROW + 76)
/* Frames in a still window. */
#define WINDOW		8

/* Rows of a panel. */
enum { ROW_GFX, ROW_COPY, ROW_CPU_A, ROW_CPU_B, ROW_IRQ };

struct view {
	FILE *f;
	const struct demo_result *r;
	int64_t from, to;
	double y;
};

static double x_of(const struct view *v, int64_t t)
{
	double x = LEFT + (double)(t - v->from) * (RIGHT - LEFT) / (double)(v->to - v->from);

	return x < LEFT ? LEFT : x > RIGHT ? RIGHT : x;
}

static bool outside(const struct view *v, int64_t begin, int64_t end)
{
	return end < v->from || begin > v->to;
}

static double row_y(const struct view *v, int row)
{
	return v->y + 30 + row * ROW;
}

static void style(FILE *f)
{
	fputs("<style>"
	      "text{font:12px sans-serif;fill:#222}"
	      ".t{font-size:22px;font-weight:bold}.h{font-size:15px;font-weight:bold}"
	      ".s{font-size:11px;fill:#555}.v{font-size:11px;fill:#111}"
	      ".w0{fill:#f4b8a6;stroke:#c9472c}.w1{fill:#a9cbe8;stroke:#1f6fb2}"
	      ".g0{fill:#c9472c}.g1{fill:#1f6fb2}.g2{fill:#8a8a8a}"
	      ".q{stroke:#777;stroke-width:1}.a{stroke:#333;stroke-width:1.1;fill:none;"
	      "marker-end:url(#head)}"
	      ".c{fill:#d9c7ec;stroke:#6f42a5}.i{stroke:#0a7d32;stroke-width:2}"
	      ".l{stroke:#ddd}.b{fill:#fbfbfb;stroke:#ccc}"
	      "</style>\n"
	      "<defs><marker id='head' markerWidth='8' markerHeight='6' refX='7' refY='3' "
	      "orient='auto'><path d='M0,0 L8,3 L0,6 z' fill='#333'/></marker></defs>\n", f);
}

static void legend(FILE *f)
{
	double x = 20;
	const double y = 62;

	fprintf(f, "<rect class='w0' x='%g' y='%g' width='26' height='14'/>"
		"<text x='%g' y='%g'>wait for “copied”: stall to unblock</text>\n",
		x, y, x + 32, y + 11);
	fprintf(f, "<rect class='w1' x='%g' y='%g' width='26' height='14'/>"
		"<text x='%g' y='%g'>wait for “drawn”</text>\n", x + 240, y, x + 272, y + 11);
	fprintf(f, "<rect class='g0' x='%g' y='%g' width='5' height='14'/>"
		"<rect class='g1' x='%g' y='%g' width='5' height='14'/>"
		"<text x='%g' y='%g'>signal executed: drawn, copied</text>\n",
		x + 400, y, x + 408, y, x + 420, y + 11);
	fprintf(f, "<path class='a' d='M%g,%g l26,0'/>"
		"<text x='%g' y='%g'>released by</text>\n", x + 620, y + 7, x + 654, y + 11);
	fprintf(f, "<path class='q' d='M%g,%g l0,8'/><text x='%g' y='%g'>queued at</text>\n",
		x + 740, y + 3, x + 748, y + 11);
	fprintf(f, "<rect class='c' x='%g' y='%g' width='26' height='14'/>"
		"<text x='%g' y='%g'>CPU wait</text>\n", x + 830, y, x + 862, y + 11);
	fprintf(f, "<path class='i' d='M%g,%g l0,14'/><text x='%g' y='%g'>interrupt</text>\n",
		x + 940, y, x + 948, y + 11);
}

static void label(const struct view *v, double x, double y, uint64_t value, const char *anchor)
{
	fprintf(v->f, "<text class='v' x='%.1f' y='%.1f' text-anchor='%s'>%llu</text>\n",
		x, y, anchor, (unsigned long long)value);
}

static void draw_entry(const struct view *v, const struct demo_entry *e)
{
	double y = row_y(v, e->client == DEMO_A ? ROW_GFX : ROW_COPY);
	double x0 = x_of(v, e->begin), x1 = x_of(v, e->end);

	if (outside(v, e->begin, e->end) || e->fence > DEMO_PROGRESS)
		return;
	switch (e->op) {
	case DEMO_WAIT:
		if (e->fence > DEMO_COPIED)
			break;
		fprintf(v->f, "<rect class='w%d' x='%.1f' y='%.1f' width='%.1f' height='16'>"
			"<title>wait %llu, %lld ns</title></rect>\n", !e->fence, x0, y + 5,
			x1 - x0 > 1 ? x1 - x0 : 1, (unsigned long long)e->value,
			(long long)(e->end - e->begin));
		if (x1 - x0 > 34)
			label(v, (x0 + x1) / 2, y + 17, e->value, "middle");
		break;
	case DEMO_SIGNAL:
		if (e->fence == DEMO_PROGRESS)
			break;
		fprintf(v->f, "<rect class='g%d' x='%.1f' y='%.1f' width='4' height='22'>"
			"<title>signal %llu</title></rect>\n", e->fence, x1 - 2, y + 2,
			(unsigned long long)e->value);
		/* At the border put the label on the other side. */
		if (x1 > RIGHT - 40)
			label(v, x1 - 4, y + 31, e->value, "end");
		else
			label(v, x1 + 4, y + 31, e->value, "start");
		break;
	case DEMO_CPU_WAIT:
		y = row_y(v, e->client == DEMO_A ? ROW_CPU_A : ROW_CPU_B);
		fprintf(v->f, "<rect class='c' x='%.1f' y='%.1f' width='%.1f' height='16'/>\n",
			x0, y + 5, x1 - x0 > 1 ? x1 - x0 : 1);
		label(v, x0 + 4, y + 17, e->value, "start");
		break;
	default:
		if (e->fence != DEMO_PROGRESS)
			fprintf(v->f, "<path class='q' d='M%.1f,%.1f l0,6'/>\n", x0, y - 3);
		break;
	}
}

static void draw_joins(const struct view *v, const struct demo_join *join, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct demo_entry *s = join[i].signal, *w = join[i].wait;
		double ys = row_y(v, s->client == DEMO_A ? ROW_GFX : ROW_COPY) + 13;
		double yw = row_y(v, w->client == DEMO_A ? ROW_GFX : ROW_COPY) + 13;

		if (s->end < v->from || w->end > v->to)
			continue;
		ys += ys < yw ? 11 : -11;
		yw += ys < yw ? -9 : 9;
		fprintf(v->f, "<path class='a' d='M%.1f,%.1f L%.1f,%.1f'/>\n",
			x_of(v, s->end), ys, x_of(v, w->end), yw);
	}
}

static void draw_interrupts(const struct view *v)
{
	double y = row_y(v, ROW_IRQ), room = 0;
	unsigned int i;

	for (i = 0; i < v->r->interrupt_count; i++) {
		const struct demo_interrupt *irq = &v->r->interrupt[i];

		if (outside(v, irq->time, irq->time))
			continue;
		fprintf(v->f, "<path class='i' d='M%.1f,%.1f l0,20'/>\n", x_of(v, irq->time), y + 3);
		/* Leave out a label that would overlap the one before. */
		if (x_of(v, irq->time) < room)
			continue;
		label(v, x_of(v, irq->time) + 4, y + 17, irq->value, "start");
		room = x_of(v, irq->time) + 40;
	}
}

static void draw_ticks(const struct view *v)
{
	int i;

	for (i = 0; i <= 8; i++) {
		int64_t t = v->from + (v->to - v->from) * i / 8;

		fprintf(v->f, "<text class='s' x='%.1f' y='%.1f' text-anchor='%s'>%.1f µs</text>\n",
			x_of(v, t), v->y + PANEL - 24, i == 8 ? "end" : i ? "middle" : "start",
			(double)(t - v->r->begin[0]) / 1000.0);
	}
}

static void frame_panel(const struct view *v, const char *title)
{
	static const char *const names[ROWS] = {
		"GFX queue of A", "COPY queue of B", "CPU waits of A", "CPU waits of B",
		"interrupts",
	};
	int i;

	fprintf(v->f, "<rect class='b' x='10' y='%.1f' width='%d' height='%d' rx='4'/>\n"
		"<text class='h' x='20' y='%.1f'>%s</text>\n",
		v->y, WIDTH - 20, PANEL - 16, v->y + 19, title);
	for (i = 0; i < ROWS; i++)
		fprintf(v->f, "<text x='20' y='%.1f'>%s</text>"
			"<path class='l' d='M%d,%.1f L%d,%.1f'/>\n", row_y(v, i) + 18, names[i],
			LEFT, row_y(v, i) + 33, RIGHT, row_y(v, i) + 33);
}

/* Return the time at which A's queue signaled a frame of an act, from the log. */
static int64_t time_of(const struct demo_result *r, unsigned int act, unsigned int frame)
{
	uint64_t value = (uint64_t)act * r->frames + frame;
	const struct demo_report *rep = &r->shared->report[DEMO_A];
	unsigned int i;

	for (i = 0; i < rep->entry_count; i++)
		if (rep->entry[i].op == DEMO_SIGNAL && rep->entry[i].fence == DEMO_DRAWN &&
		    rep->entry[i].value == value)
			return rep->entry[i].end;
	return 0;
}

/* Choose a window around the middle frame: acts 2 and 3 have a CPU waiter there. */
static bool choose_window(struct view *v, unsigned int act)
{
	unsigned int middle = v->r->frames / 2 / DEMO_WAIT_EVERY * DEMO_WAIT_EVERY;

	v->from = time_of(v->r, act, middle - WINDOW / 2);
	v->to = time_of(v->r, act, middle + WINDOW / 2);
	return v->from && v->to > v->from;
}

static void draw_act(struct view *v, unsigned int act, const struct demo_join *join,
		     unsigned int joins)
{
	static const char *const titles[] = {
		"Act 1: no CPU waiter, no interrupt",
		"Act 2: a CPU waiter every tenth frame",
		"Act 3: the same by eventfd and epoll",
	};
	unsigned int i, k;

	if (!choose_window(v, act)) {
		fprintf(v->f, "<text x='20' y='%.1f'>%s: its log entries were lost</text>\n",
			v->y + 20, titles[act]);
		return;
	}
	frame_panel(v, titles[act]);
	draw_ticks(v);
	for (k = 0; k < DEMO_CLIENTS; k++)
		for (i = 0; i < v->r->shared->report[k].entry_count; i++)
			draw_entry(v, &v->r->shared->report[k].entry[i]);
	draw_joins(v, join, joins);
	draw_interrupts(v);
}

/* Draw the whole run: at most one mark per pixel, and the labels that have room. */
static void draw_run(const struct view *v)
{
	unsigned int i, k;

	for (k = 0; k < DEMO_CLIENTS; k++) {
		const struct demo_report *rep = &v->r->shared->report[k];
		double last[DEMO_CPU_WAIT + 1] = { 0 }, room = 0;

		for (i = 0; i < rep->entry_count; i++) {
			const struct demo_entry *e = &rep->entry[i];
			double x = x_of(v, e->end), y = row_y(v, (int)k);

			if (x < last[e->op] + 1 || e->fence > DEMO_COPIED)
				continue;
			last[e->op] = x;
			if (e->op == DEMO_SIGNAL)
				fprintf(v->f, "<rect class='g%u' x='%.1f' y='%.1f' width='1' "
					"height='22'/>\n", e->fence, x, y + 2);
			if (e->op == DEMO_CPU_WAIT)
				fprintf(v->f, "<rect class='c' x='%.1f' y='%.1f' width='%.1f' "
					"height='16'/>\n", x_of(v, e->begin),
					row_y(v, ROW_CPU_A + (int)k) + 5, x - x_of(v, e->begin));
			if (e->op == DEMO_SIGNAL && x > room) {
				label(v, x, y + 33, e->value, "start");
				room = x + 60;
			}
		}
	}
	draw_interrupts(v);
	draw_ticks(v);
}

static void data(FILE *f, const struct demo_result *r, const struct demo_join *join,
		 unsigned int joins)
{
	int64_t origin = r->begin[0];
	unsigned int i, k;

	fputs("const E=[", f);
	for (k = 0; k < DEMO_CLIENTS; k++) {
		for (i = 0; i < r->shared->report[k].entry_count; i++) {
			const struct demo_entry *e = &r->shared->report[k].entry[i];

			if (e->fence > DEMO_COPIED && e->op != DEMO_CPU_WAIT)
				continue;
			fprintf(f, "[%u,%u,%u,'%llu',%lld,%lld],", e->client, e->op, e->fence,
				(unsigned long long)e->value, (long long)(e->begin - origin),
				(long long)(e->end - origin));
		}
	}
	fputs("];\nconst I=[", f);
	for (i = 0; i < r->interrupt_count; i++)
		fprintf(f, "['%llu',%lld],", (unsigned long long)r->interrupt[i].value,
			(long long)(r->interrupt[i].time - origin));
	fputs("];\nconst J=[", f);
	for (i = 0; i < joins; i++)
		fprintf(f, "[%u,%lld,%u,%lld],", join[i].signal->client,
			(long long)(join[i].signal->end - origin), join[i].wait->client,
			(long long)(join[i].wait->end - origin));
	fprintf(f, "];\nconst END=%lld;\n", (long long)(r->end[DEMO_ACTS - 1] - origin));
}

static void script(FILE *f, double y)
{
	fprintf(f, "const Y=%g,L=%d,R=%d,ROW=%d;\n", y, LEFT, RIGHT, ROW);
	fputs("const NS='http://www.w3.org/2000/svg',view=document.getElementById('view');\n"
	      "let from=0,to=END;\n"
	      "const x=t=>L+(t-from)*(R-L)/(to-from),row=n=>Y+30+n*ROW;\n"
	      "function put(n,a,t){const e=document.createElementNS(NS,n);for(const k in a)"
	      "e.setAttribute(k,a[k]);if(t!==undefined)e.textContent=t;view.appendChild(e);return e}\n"
	      "/* Labels keep their size; those without room are left out. */\n"
	      "let last={};function label(r,px,py,t){if(px<(last[r]||L))return;"
	      "put('text',{class:'v',x:px,y:py},t);last[r]=px+8+7*t.length}\n"
	      "let drawn={};function once(r,a,b){const k=r+':'+Math.round(a)+':'+Math.round(b);"
	      "if(drawn[k])return false;return drawn[k]=true}\n"
	      "function render(){view.textContent='';last={};drawn={};\n"
	      "for(const e of E){if(e[5]<from||e[4]>to)continue;"
	      "const a=Math.max(L,x(e[4])),b=Math.min(R,x(e[5])),y=row(e[0]);\n"
	      "if(e[1]==1){if(once('w'+e[0],a,b))put('rect',{class:'w'+(e[2]?0:1),x:a,y:y+5,"
	      "width:Math.max(1,b-a),height:16});label('w'+e[0],a+2,y+17,e[3])}\n"
	      "else if(e[1]==0){if(once('s'+e[0],b,b))put('rect',{class:'g'+e[2],x:b-1,y:y+2,"
	      "width:3,height:22});label('s'+e[0],b+3,y+32,e[3])}\n"
	      "else if(e[1]==4){const c=row(2+e[0]);if(once('c'+e[0],a,b))put('rect',{class:'c',x:a,"
	      "y:c+5,width:Math.max(1,b-a),height:16});label('c'+e[0],a+3,c+17,e[3])}\n"
	      "else if(once('q'+e[0],a,a))put('path',{class:'q',d:`M${a},${y-3} l0,6`})}\n"
	      "for(const i of I){if(i[1]<from||i[1]>to)continue;const a=x(i[1]);if(once('i',a,a))"
	      "put('path',{class:'i',d:`M${a},${row(4)+3} l0,20`});label('i',a+4,row(4)+17,i[0])}\n"
	      "if((to-from)<END/20)for(const j of J){if(j[1]<from||j[3]>to)continue;"
	      "const d=j[0]<j[2];put('path',{class:'a',d:`M${x(j[1])},${row(j[0])+(d?24:2)} "
	      "L${x(j[3])},${row(j[2])+(d?4:22)}`})}\n"
	      "for(let i=0;i<=8;i++){const t=from+(to-from)*i/8;put('text',{class:'s',x:x(t),"
	      "y:row(5)+22,'text-anchor':i==8?'end':i?'middle':'start'},(t/1000).toFixed(1)+' µs')}}\n"
	      "const svg=document.documentElement;\n"
	      "function at(ev){const p=svg.createSVGPoint();p.x=ev.clientX;p.y=ev.clientY;"
	      "return p.matrixTransform(svg.getScreenCTM().inverse())}\n"
	      "svg.addEventListener('wheel',ev=>{const p=at(ev);if(p.y<Y)return;ev.preventDefault();"
	      "const t=from+(p.x-L)*(to-from)/(R-L),k=ev.deltaY>0?1.25:0.8;"
	      "from=Math.max(0,t-(t-from)*k);to=Math.min(END,t+(to-t)*k);render()},{passive:false});\n"
	      "let grab=null;svg.addEventListener('mousedown',ev=>{const p=at(ev);"
	      "if(p.y>Y)grab=[p.x,from,to]});\n"
	      "svg.addEventListener('mousemove',ev=>{if(!grab)return;const d=(grab[0]-at(ev).x)*"
	      "(grab[2]-grab[1])/(R-L);from=grab[1]+d;to=grab[2]+d;render()});\n"
	      "svg.addEventListener('mouseup',()=>grab=null);render();\n", f);
}

int demo_write_svg(const struct demo_result *result, const char *path)
{
	struct demo_join *join = calloc(2 * DEMO_ENTRIES, sizeof(*join));
	unsigned int act, joins = join ? demo_join(result, join, 2 * DEMO_ENTRIES) : 0;
	struct view v = { .f = fopen(path, "we"), .r = result };
	double y = TOP + DEMO_ACTS * PANEL;

	if (!v.f) {
		free(join);
		return -errno;
	}
	fprintf(v.f, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %.0f' width='%d'>\n",
		WIDTH, y + PANEL + 10, WIDTH);
	style(v.f);
	fprintf(v.f, "<rect width='100%%' height='100%%' fill='#fff'/>\n"
		"<text class='t' x='20' y='36'>vfence: two processes, two engines, native fences"
		"</text>\n<text class='s' x='720' y='36'>drawn from the queues’ logs, the library’s "
		"queued events and the interrupt’s tracepoint; windows of %u frames out of %u</text>\n",
		WINDOW, result->frames);
	legend(v.f);
	for (act = 0; act < DEMO_ACTS; act++) {
		v.y = TOP + act * PANEL;
		draw_act(&v, act, join, joins);
	}
	v.y = y;
	v.from = result->begin[0];
	v.to = result->end[DEMO_ACTS - 1];
	frame_panel(&v, "The whole run (in a browser: scroll to zoom, drag to move)");
	fputs("<g id='view'>\n", v.f);
	draw_run(&v);
	fputs("</g>\n<script><![CDATA[\n", v.f);
	data(v.f, result, join, joins);
	script(v.f, y);
	fputs("]]></script>\n</svg>\n", v.f);
	free(join);
	return fclose(v.f) ? -errno : 0;
}
