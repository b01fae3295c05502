/* sbps SUBCOMMAND ...: finds the subcommand and runs it. */
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/rank_output.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* In the order of the help page. */
static const command *const commands[] = {
    &command_sample,  &command_summary,  &command_diagnose, &command_contrast,
    &command_report,  &command_predict,  &command_score,    &command_loo,
    &command_check,   &command_compare,  &command_map,      &command_laplace,
    &command_convert, &command_simulate, &command_list,     &command_completion,
    &command_help,
};

const command *command_at(size_t index)
{
    return index < sizeof commands / sizeof *commands ? commands[index] : NULL;
}

/* For suggest_name: the names of the subcommands. */
static const char *command_name(const void *of, size_t index)
{
    (void)of;
    return command_at(index) ? command_at(index)->name : NULL;
}

const command *command_find(const char *name)
{
    for (size_t i = 0; command_at(i); i++)
        if (!strcmp(command_at(i)->name, name)) return command_at(i);
    const name_list names = {command_name, NULL, ""};
    name_hint hint = suggest_name(name, names, "; `sbps help` lists them");
    print_message("unknown subcommand '%s'%s", name, hint.text);
    return NULL;
}

/* Returns the exit code: a result that could not be written is a failure. */
static int close_output(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    if (errno == EPIPE) broken_pipe(); /* the reader has gone, as after `| head` */
    print_message("standard output: %s", strerror(errno));
    return code == CODE_OK ? CODE_FAILED : code;
}

/* Runs the subcommand on this rank. */
static int run_here(const arguments *args)
{
    const command *c = args->command;
    if (args->help)
        help_command(stdout, c);
    else if (c->by_ranks || is_first_rank(args->ranks))
        return c->run(args);
    return CODE_OK;
}

/* Parses the arguments, joins the ranks, runs the subcommand; returns the exit code. */
static int run_command(const command *c, int argc, char **argv)
{
    arguments args;
    rank_output all;
    sbps_error err = {0};
    int code = arguments_parse(c, argc, argv, &args);
    if (code != CODE_OK) return code;
    sbps_status status = rank_output_begin(&all, &err);
    args.ranks = all.ranks;
    code = status == SBPS_OK ? run_here(&args) : report_status(status, &err);
    arguments_release(&args);
    return rank_output_end(&all, code);
}

/* Handles the options of the program itself, and finds the subcommand. */
static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        help_overview(stderr);
        return CODE_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        help_overview(stdout);
        return CODE_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("sbps %s\n", SBPS_VERSION);
        return CODE_OK;
    }
    if (argv[1][0] == '-') {
        print_message("put a subcommand before '%s'; `sbps help` lists them", argv[1]);
        return CODE_USAGE;
    }
    const command *c = command_find(argv[1]);
    return c ? run_command(c, argc - 2, argv + 2) : CODE_USAGE;
}

/* A file that we open must not get the number of a closed standard stream, or messages would be
 * written to it. The streams are replaced by ones that fail when used, as closed ones would. */
static bool reserve_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode) != fd) return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (!reserve_standard_streams()) return CODE_FAILED;
    failed_writes_report();
    return close_output(dispatch(argc, argv));
}

/* ---- before main ---- */

/* OpenBLAS starts its threads when it is loaded: more than are ever used here, and under a
 * limit on memory those that cannot start keep the program from ending. Only the environment
 * can prevent that, so the program executes itself again with OPENBLAS_NUM_THREADS=1 before any
 * library is initialised. */
#define VARIABLE "OPENBLAS_NUM_THREADS="

#ifndef __SANITIZE_ADDRESS__ /* it is not initialised yet either */
static void begin_with_one_thread(int argc, char **argv, char **environment)
{
    size_t count = 0;
    (void)argc;
    for (; environment[count]; count++)
        if (!strncmp(environment[count], VARIABLE, strlen(VARIABLE))) return;
    char *more[count + 2];
    memcpy(more, environment, count * sizeof *more);
    more[count] = VARIABLE "1";
    more[count + 1] = NULL;
    execve("/proc/self/exe", argv, more); /* if that fails, continue */
}

__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(int, char **,
                                                   char **) = begin_with_one_thread;
#endif
