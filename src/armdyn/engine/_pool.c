/* A pool of threads in C, which need neither Python nor its GIL.

   All calls of a process share these threads, the workers, as with armdyn/engine/workers.py. A
   call offers its work as a Job, which stands on its own stack. Then it takes part after part,
   as do the workers that have joined, until none is left; and it returns when no worker is at the
   job any more. So a call comes to its end also where no worker is free, or none can be started.
   A call waits only for parts that are being done. So work within a part, and calls from several
   threads at once, cannot wait for each other in a circle.

   A worker without work looks out for more during some microseconds, since to be woken up takes
   as long; then it sleeps. It is never ended: it dies with the process, asleep or at work, and
   holds nothing that the end of the interpreter needs. A child process that was forked has none
   of the threads, whatever they were doing: it begins with an empty pool. */

#include "_pool.h"

#include <stddef.h>

#define MOST_WORKERS 255
#define LOOKS 300 /* before going to sleep, with a pause after each: 5 to 15 microseconds */
#define PARTS 8   /* of a job, for each thread */

/* What differs between systems: counters that threads share, locks, sleep, threads. ---------- */

#ifdef _MSC_VER
#include <intrin.h>
#define ADD(counter, change) (_InterlockedExchangeAdd64(counter, change) + (change))
#define READ(counter) _InterlockedOr64(counter, 0)
#else
#define ADD(counter, change) __atomic_add_fetch(counter, change, __ATOMIC_SEQ_CST)
#define READ(counter) __atomic_load_n(counter, __ATOMIC_ACQUIRE)
#endif

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#define PAUSE() _mm_pause()
#elif defined(_MSC_VER)
#define PAUSE() __yield()
#elif defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define PAUSE() __asm__ volatile("isb" ::: "memory") /* yield takes no time at all */
#else
#define PAUSE() __asm__ volatile("" ::: "memory")
#endif

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
typedef SRWLOCK Lock;
typedef CONDITION_VARIABLE News;
#define NEW_LOCK SRWLOCK_INIT
#define NO_NEWS CONDITION_VARIABLE_INIT
#define lock(it) AcquireSRWLockExclusive(it)
#define unlock(it) ReleaseSRWLockExclusive(it)
#define sleep_until(news, it) SleepConditionVariableSRW(news, it, INFINITE, 0)
#define tell_one(news) WakeConditionVariable(news)
#define tell_all(news) WakeAllConditionVariable(news)
#define THREAD DWORD WINAPI
#define THREAD_RETURNS 0
#else
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
typedef pthread_mutex_t Lock;
typedef pthread_cond_t News;
#define NEW_LOCK PTHREAD_MUTEX_INITIALIZER
#define NO_NEWS PTHREAD_COND_INITIALIZER
#define lock(it) pthread_mutex_lock(it)
#define unlock(it) pthread_mutex_unlock(it)
#define sleep_until(news, it) pthread_cond_wait(news, it)
#define tell_one(news) pthread_cond_signal(news)
#define tell_all(news) pthread_cond_broadcast(news)
#define THREAD void *
#define THREAD_RETURNS NULL
#endif

/* The pool. ---------------------------------------------------------------------------------- */

typedef struct Job {
    Work work;
    const void *data;
    int64_t parts;
    volatile int64_t taken; /* parts, and more: everyone who finds none left counts too */
    volatile int64_t there; /* workers at this job; changed under the lock */
    int64_t places;         /* for workers that may still join; under the lock */
    struct Job *next;       /* on offer; under the lock */
} Job;

typedef struct {
    Lock lock;
    News work;               /* there is a job on offer */
    News done;               /* a job has no worker any more */
    Job *jobs;               /* on offer: those that workers may join */
    volatile int64_t offers; /* so many, ever: what workers look out for while they are awake */
    int64_t workers, asleep;
} Pool;

#define EMPTY {NEW_LOCK, NO_NEWS, NO_NEWS, NULL, 0, 0, 0}

static Pool pool = EMPTY;
static int looks = LOOKS; /* 0 on a machine with one processor, where looking out keeps others off */

static void
do_parts(Job *job)
{
    int64_t part;
    while ((part = ADD(&job->taken, 1) - 1) < job->parts)
        job->work(job->data, part);
}

/* A job that has a place free and a part to take, or NULL. Under the lock. */
static Job *
find_job(void)
{
    for (Job *job = pool.jobs; job; job = job->next)
        if (job->places && READ(&job->taken) < job->parts)
            return job;
    return NULL;
}

static THREAD
worker(void *unused)
{
    (void)unused;
    lock(&pool.lock);
    for (;;) {
        Job *job = find_job();
        if (job) {
            job->places--;
            ADD(&job->there, 1);
            unlock(&pool.lock);
            do_parts(job);
            lock(&pool.lock);
            if (ADD(&job->there, -1) == 0) /* from here on the job may be gone */
                tell_all(&pool.done);
            continue;
        }
        int64_t seen = READ(&pool.offers);
        unlock(&pool.lock);
        for (int k = 0; k < looks && READ(&pool.offers) == seen; k++)
            PAUSE();
        lock(&pool.lock);
        if (READ(&pool.offers) == seen) {
            pool.asleep++;
            sleep_until(&pool.work, &pool.lock);
            pool.asleep--;
        }
    }
    return THREAD_RETURNS;
}

/* Whether one more worker could be started. It takes no signals, which belong to Python. */
static int
start_worker(void)
{
#ifdef _WIN32
    HANDLE thread = CreateThread(NULL, 0, worker, NULL, 0, NULL);
    if (thread)
        CloseHandle(thread);
    return thread != NULL;
#else
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, worker, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed)
        pthread_detach(thread);
    return !failed;
#endif
}

/* Let workers join a job; start as many as it has places for, unless they are there already. */
static void
offer(Job *job)
{
    lock(&pool.lock);
    while (pool.workers < job->places && pool.workers < MOST_WORKERS && start_worker())
        pool.workers++;
    job->next = pool.jobs;
    pool.jobs = job;
    ADD(&pool.offers, 1);
    int64_t wake = job->places < pool.asleep ? job->places : pool.asleep;
    unlock(&pool.lock);
    while (wake--)
        tell_one(&pool.work);
}

/* Return when no worker is at a job, nor ever will be. */
static void
withdraw(Job *job)
{
    lock(&pool.lock);
    Job **at = &pool.jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    unlock(&pool.lock);
    for (int k = 0; k < looks && READ(&job->there); k++)
        PAUSE();
    if (READ(&job->there)) {
        lock(&pool.lock);
        while (READ(&job->there))
            sleep_until(&pool.done, &pool.lock);
        unlock(&pool.lock);
    }
}

void
pool_run(Work work, const void *data, int64_t parts, int64_t threads)
{
    int64_t places = (threads < parts ? threads : parts) - 1;
    if (places <= 0) {
        for (int64_t part = 0; part < parts; part++)
            work(data, part);
        return;
    }
    Job job = {work, data, parts, 0, 0, places, NULL};
    offer(&job);
    do_parts(&job);
    withdraw(&job);
}

int64_t
pool_share(int64_t states, int64_t threads, int64_t most)
{
    int64_t parts = threads == 1 ? 1 : PARTS * (threads < MOST_WORKERS ? threads : MOST_WORKERS);
    int64_t share = (states / parts / LANES + 1) * LANES;
    return share < most ? share : most;
}

#ifndef _WIN32
static void
empty_pool(void)
{
    pool = (Pool)EMPTY;
}
#endif

void
pool_begin(void)
{
#ifndef _WIN32
    pthread_atfork(NULL, NULL, empty_pool);
    if (sysconf(_SC_NPROCESSORS_ONLN) == 1)
        looks = 0;
#else
    SYSTEM_INFO machine;
    GetSystemInfo(&machine);
    if (machine.dwNumberOfProcessors == 1)
        looks = 0;
#endif
}
