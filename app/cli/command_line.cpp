#include "app/cli/command_line.hpp"

#include "app/cli/commands.hpp"
#include "app/cli/exit_status.hpp"
#include "app/cli/pages.hpp"
#include "app/json/nearest.hpp"
#include "app/json/time_text.hpp"
#include "app/units.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <iostream>
#include <memory>

namespace alkstore::cli {

namespace {

constexpr auto example_title = "Example:\n  ";

// -- what several commands have -----------------------------------------------

// Reads an option's text when it is parsed, so that what is wrong with it is
// said like any other mistake on the command line.
template <auto Read, class T>
void add_parsed(CLI::App* app, const char* name, T& target, const char* type,
                const char* description) {
  app
    ->add_option_function<std::string>(
      name,
      [&target, name](const std::string& text) {
        try {
          target = Read(text);
        } catch (const failure& why) {
          throw CLI::ValidationError{name, why.what()};
        }
      },
      description)
    ->type_name(type);
}

void add_span(CLI::App* app, const char* name, std::optional<millis>& target,
              const char* description) {
  add_parsed<parse_duration>(app, name, target, "DURATION", description);
}

// Those that a schedule has, too.
void add_shared_options(CLI::App* app, job_options& options) {
  app->add_option("--priority", options.priority, "-32 to 31, higher first")
    ->type_name("N");
  add_span(app, "--expires-in", options.expires_in,
           "dead if it was not claimed by then");
  app
    ->add_option("--max-attempts", options.max_attempts,
                 "claims until it is dead")
    ->type_name("N");
  add_span(app, "--visibility-timeout", options.visibility_timeout,
           "how long a claim holds");
  add_span(app, "--backoff-base", options.backoff_base,
           "wait after the first failure");
}

void add_job_options(CLI::App* app, job_options& options) {
  add_shared_options(app, options);
  add_span(app, "--delay", options.delay, "not before that, like 90s or 2h");
  add_parsed<parse_time>(app, "--run-at", options.run_at, "TIME",
                         "not before that, like 2026-12-01T08:00:00Z");
  app
    ->add_option("--dedupe-key", options.dedupe_key,
                 "stored once while a job with that key lives, and for 24 h "
                 "after it")
    ->type_name("KEY");
}

void add_payload(CLI::App* app, payload_source& from, const char* otherwise) {
  app
    ->add_option("-f,--file", from.file,
                 std::string{"the payload, - for standard input ("} + otherwise
                   + ")")
    ->type_name("FILE");
  app
    ->add_option("-t,--text", from.text,
                 "the payload itself; others can see it in the process list")
    ->type_name("TEXT")
    ->excludes("--file");
}

void add_queue_choice(CLI::App* app, queue_choice& where, const char* queue) {
  app->add_option(queue, where.queue, "of this queue")->type_name("QUEUE");
  app->add_option("--outbox", where.outbox, "of this outbox")
    ->type_name("NAME");
}

void add_page(CLI::App* app, page_choice& page) {
  app->add_option("--limit", page.limit, "at most so many")
    ->capture_default_str()
    ->check(CLI::Range(1, 1'000'000))
    ->type_name("N");
  app->add_option("--after", page.after, "ids above it, for the next page")
    ->type_name("ID");
}

// -- the tree -----------------------------------------------------------------

class command_line {
public:
  command_line() {
    app_.fallthrough(); // a command may be followed by the common options
    app_.require_subcommand(1);
    app_.set_version_flag("--version", ALKSTORE_VERSION);
    add_settings();
    add_jobs();
    add_dead_letters();
    add_schedules();
    add_store();
    add_pages();
  }

  int parse_and_run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& why) {
      return refuse(why);
    }
    auto status = run_();
    std::cout.flush();
    if (!std::cout)
      throw failure{errc::io_error, "writing to standard output"};
    return status;
  }

private:
  // A command whose struct lives as long as the parser.
  template <class Command>
  CLI::App* add(CLI::App* parent, const char* name, const char* description,
                const std::string& example,
                const std::shared_ptr<Command>& what) {
    auto* out = parent->add_subcommand(name, description);
    out->footer(example_title + example);
    out->callback([this, what] {
      run_ = [this, what] {
        session s{settings_};
        if constexpr (std::is_void_v<decltype(run(s, *what))>) {
          run(s, *what);
          return 0;
        } else {
          return run(s, *what);
        }
      };
    });
    return out;
  }

  CLI::App* add_group(const char* name, const char* description) {
    auto* out = app_.add_subcommand(name, description);
    out->require_subcommand(1);
    return out;
  }

  void add_settings() {
    app_
      .add_option("-d,--database", settings_.database,
                  "the SQLite file (ALKSTORE_DATABASE)")
      ->type_name("FILE");
    app_
      .add_option("--config-file", settings_.config_file,
                  "takes the database and its limits from a node's "
                  "configuration")
      ->type_name("FILE");
    app_.add_flag("--create", settings_.create,
                  "makes the database if it is missing");
    app_.add_flag("--json", settings_.json, "for scripts: JSON");
    app_.add_flag("--utc", settings_.utc, "times in UTC instead of local ones");
  }

  void add_jobs() {
    auto queued = std::make_shared<enqueue_command>();
    auto* enqueue = add(&app_, "enqueue", "puts a job into a queue",
                        "echo -n '{\"report\": 7}' | alkstore enqueue reports "
                        "--priority 5",
                        queued);
    enqueue->add_option("queue", queued->where.queue, "where it goes")
      ->required()
      ->type_name("QUEUE");
    add_message(enqueue, *queued);

    auto* outbox = add_group("outbox", "messages for somebody else");
    auto sent = std::make_shared<enqueue_command>();
    auto* send = add(outbox, "send", "puts a message into an outbox",
                     "alkstore outbox send order-events --text "
                     "'{\"order\": 17}' --dedupe-key order-17",
                     sent);
    send->add_option("outbox", sent->where.outbox, "which one")
      ->required()
      ->type_name("NAME");
    add_message(send, *sent);

    add(&app_, "queues", "counts the jobs of each queue and outbox",
        "alkstore queues", std::make_shared<queues_command>());

    auto list = std::make_shared<jobs_command>();
    auto* jobs = add(&app_, "jobs", "lists jobs that wait or run",
                     "alkstore jobs reports --state running", list);
    add_queue_choice(jobs, list->where, "queue");
    jobs
      ->add_option("--state", list->state,
                   "only those: waiting, delayed or running")
      ->check(CLI::IsMember({"waiting", "delayed", "running"}))
      ->type_name("STATE");
    add_page(jobs, list->page);

    add_job(&app_, "job", "shows a job or dead letter, payload and all",
            "alkstore job 1 --json", false);
  }

  void add_message(CLI::App* app, enqueue_command& what) {
    add_payload(app, what.payload, "the default");
    app
      ->add_option("--jsonl", what.json_lines,
                   "many at once: an object a line, with payload or "
                   "payload_base64 and options like priority or delay_ms")
      ->type_name("FILE")
      ->excludes("--file")
      ->excludes("--text");
    add_job_options(app, what.options);
  }

  void add_job(CLI::App* parent, const char* name, const char* description,
               const char* example, bool dead_only) {
    auto shown = std::make_shared<job_command>();
    shown->dead_only = dead_only;
    auto* job = add(parent, name, description, example, shown);
    job->add_option("id", shown->id, "which one")->required()->type_name("ID");
    job->add_flag("--payload", shown->payload, "only its payload, as it is");
  }

  void add_dead_letters() {
    auto* dead = add_group("dead", "dead letters: jobs that were given up");
    auto list = std::make_shared<dead_list_command>();
    auto* lists = add(dead, "list", "lists them", "alkstore dead list reports",
                      list);
    add_queue_choice(lists, list->where, "queue");
    add_page(lists, list->page);
    add_job(dead, "show", "shows one, payload and all",
            "alkstore dead show 2 --payload", true);
    using action = dead_change_command::action;
    add_dead_change(dead, "requeue", "makes them waiting jobs again",
                    "alkstore dead requeue --queue reports", action::requeue);
    add_dead_change(dead, "delete", "deletes them",
                    "alkstore dead delete --outbox order-events",
                    action::remove);
  }

  void add_dead_change(CLI::App* dead, const char* name,
                       const char* description, const char* example,
                       dead_change_command::action action) {
    auto change = std::make_shared<dead_change_command>();
    change->what = action;
    auto* app = add(dead, name, description, example, change);
    app->add_option("id", change->ids, "which ones: all of these or none")
      ->type_name("ID");
    add_queue_choice(app, change->where, "--queue");
  }

  void add_schedules() {
    auto* schedule = add_group("schedule", "what fires when");
    auto added = std::make_shared<schedule_add_command>();
    auto* adds = add(schedule, "add", "registers a schedule, or changes it",
                     "alkstore schedule add nightly-report '@every 1d' reports",
                     added);
    adds->add_option("name", added->name, "unique")
      ->required()
      ->type_name("NAME");
    adds->add_option("spec", added->spec, "@every <n><unit>, of s m h d")
      ->required()
      ->type_name("SPEC");
    adds->add_option("queue", added->queue, "where its jobs go")
      ->required()
      ->type_name("QUEUE");
    add_payload(adds, added->payload, "empty without");
    add_shared_options(adds, added->options);
    add(schedule, "list", "lists them", "alkstore schedule list",
        std::make_shared<schedule_list_command>());
    auto shown = std::make_shared<schedule_show_command>();
    auto* shows = add(schedule, "show", "shows one, payload and all",
                      "alkstore schedule show nightly-report", shown);
    add_name(shows, shown->name)->required();
    shows->add_flag("--payload", shown->payload, "only its payload, as it is");
    using action = schedule_change_command::action;
    add_schedule_change(schedule, "pause", "stops its firing",
                        "alkstore schedule pause nightly-report",
                        action::pause);
    add_schedule_change(
      schedule, "resume", "goes on; what was missed is left out",
      "alkstore schedule resume nightly-report", action::resume);
    auto next = std::make_shared<schedule_next_command>();
    auto* nexts = add(schedule, "next", "when they will fire",
                      "alkstore schedule next nightly-report --count 3", next);
    add_name(nexts, next->name);
    nexts->add_option("-n,--count", next->count, "so many")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000))
      ->type_name("N");
    add_schedule_change(schedule, "remove", "removes one; its jobs stay",
                        "alkstore schedule remove nightly-report",
                        action::remove);
  }

  static CLI::Option* add_name(CLI::App* app, std::string& name) {
    return app->add_option("name", name, "which one")->type_name("NAME");
  }

  void add_schedule_change(CLI::App* schedule, const char* name,
                           const char* description, const char* example,
                           schedule_change_command::action action) {
    auto change = std::make_shared<schedule_change_command>();
    change->what = action;
    add_name(add(schedule, name, description, example, change), change->name)
      ->required();
  }

  void add_store() {
    add(&app_, "locks", "lists the locks and who holds them", "alkstore locks",
        std::make_shared<locks_command>());
    add(&app_, "leader", "says which node fires the schedules",
        "alkstore leader --json", std::make_shared<leader_command>());
    add(&app_, "stats", "counts what the store holds", "alkstore stats",
        std::make_shared<stats_command>());
    add(&app_, "check",
        "looks for damage: integrity, schema, permissions, clock, and the "
        "configuration if it is named",
        "alkstore check", std::make_shared<check_command>());
    auto copy = std::make_shared<backup_command>();
    auto* backup = add(&app_, "backup", "copies the store while it is in use",
                       "alkstore backup copy.db", copy);
    backup->add_option("target", copy->target, "a new file")
      ->required()
      ->type_name("FILE");
    add(&app_, "vacuum",
        "writes the file anew without its free pages; nodes wait meanwhile",
        "alkstore vacuum", std::make_shared<vacuum_command>());
  }

  void add_pages() {
    add_page_command("completion", "prints the completion for bash",
                     "alkstore completion >completion.bash",
                     [this] { return bash_completion(describe(app_)); });
    add_page_command(
      "manual", "prints the manual page", "alkstore manual >alkstore.1",
      [this] { return manual_page(describe(app_), ALKSTORE_VERSION); });
  }

  void add_page_command(const char* name, const char* description,
                        const std::string& example,
                        std::function<std::string()> text) {
    auto* page = app_.add_subcommand(name, description);
    page->footer(example_title + example);
    page->callback([this, text = std::move(text)] {
      run_ = [text] {
        std::cout << text();
        return 0;
      };
    });
  }

  // -- what the parser knows
  // ----------------------------------------------------

  static command_page describe(const CLI::App& app) {
    command_page out;
    for (auto* x = &app; x != nullptr; x = x->get_parent())
      out.name.insert(0, x->get_name() + (out.name.empty() ? "" : " "));
    out.description = app.get_description();
    if (auto footer = app.get_footer(); footer.starts_with(example_title))
      out.example = footer.substr(std::string_view{example_title}.size());
    for (auto* x : app.get_options()) {
      option_page option;
      for (auto& name : x->get_snames())
        option.names.push_back("-" + name);
      for (auto& name : x->get_lnames())
        option.names.push_back("--" + name);
      if (x->get_items_expected_max() > 0)
        option.argument = x->get_type_name();
      option.description = x->get_description();
      out.options.push_back(std::move(option));
    }
    for (auto* x : app.get_subcommands(nullptr))
      out.commands.push_back(describe(*x));
    return out;
  }

  // -- mistakes
  // -------------------------------------------------------------------

  int refuse(const CLI::ParseError& why) {
    if (why.get_exit_code() == 0)
      return app_.exit(why); // --help, --version
    auto* at = &app_;
    while (!at->get_subcommands().empty())
      at = at->get_subcommands().front();
    std::cerr << "alkstore: " << why.what();
    std::vector<std::string_view> known;
    auto page = describe(*at);
    known.reserve(page.commands.size());
    for (auto& x : page.commands)
      known.push_back(std::string_view{x.name}.substr(page.name.size() + 1));
    for (auto& x : page.options)
      known.insert(known.end(), x.names.begin(), x.names.end());
    if (auto extra = app_.remaining(true); !extra.empty())
      std::cerr << did_you_mean(extra.front(), known);
    std::cerr << "\nalkstore: `" << page.name << " --help` says more\n";
    return 64;
  }

  CLI::App app_{"looks after a store of schedules, queues and outboxes",
                "alkstore"};
  settings settings_;
  std::function<int()> run_;
};

} // namespace

int run_command_line(int argc, char** argv) {
  auto say = [](const std::string& what) {
    std::cout.flush();
    std::cerr << "alkstore: " << what << '\n';
  };
  try {
    return command_line{}.parse_and_run(argc, argv);
  } catch (const wrong_config&) {
    return 78;
  } catch (const input_error& why) {
    say(why.what());
    return 65;
  } catch (const failure& why) {
    say(why.what() + (" (" + to_string(why.code()) + ")"));
    return status_of(why.code());
  } catch (const std::exception& why) {
    say(why.what());
    return 70;
  }
}

} // namespace alkstore::cli
