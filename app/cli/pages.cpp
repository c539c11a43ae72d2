#include "app/cli/pages.hpp"

#include "app/cli/exit_status.hpp"

#include <sstream>

namespace alkstore::cli {

namespace {

// -- the manual page ----------------------------------------------------------

// A text in roff: `\` and a leading `.` or `'` mean something there, and a bare
// `-` may be shown as another dash.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string joined(const std::vector<std::string>& parts,
                   const std::string& between) {
  std::string out;
  for (auto& x : parts)
    out += (out.empty() ? "" : between) + x;
  return out;
}

std::string synopsis(const command_page& page) {
  auto out = page.name + " [options]";
  for (auto& x : page.options)
    if (x.names.empty())
      out += " " + x.argument;
  return page.commands.empty() ? out : out + " command";
}

void write_options(std::ostream& out, const command_page& page) {
  for (auto& x : page.options) {
    auto name = joined(x.names, ", ");
    if (!x.argument.empty())
      name += (name.empty() ? "" : " ") + x.argument;
    out << ".TP\n.B " << roff(name) << '\n' << roff(x.description) << '\n';
  }
}

void write_command(std::ostream& out, const command_page& page) {
  if (page.commands.empty()) {
    out << ".SS " << roff(synopsis(page)) << '\n'
        << roff(page.description) << '\n';
    write_options(out, page);
    out << ".PP\n.EX\n" << roff(page.example) << "\n.EE\n";
  }
  for (auto& x : page.commands)
    write_command(out, x);
}

// -- completion ---------------------------------------------------------------

void write_words(std::ostream& out, const command_page& page) {
  out << "    '" << page.name << "') words='";
  std::string words;
  for (auto& x : page.commands)
    words += " " + x.name.substr(page.name.size() + 1);
  for (auto& x : page.options)
    for (auto& name : x.names)
      words += " " + name;
  out << words.substr(words.empty() ? 0 : 1) << "' ;;\n";
  for (auto& x : page.commands)
    write_words(out, x);
}

void write_paths(std::ostream& out, const command_page& page) {
  for (auto& x : page.commands) {
    out << "      '" << x.name << "') path=$path\\ ${COMP_WORDS[i]} ;;\n";
    write_paths(out, x);
  }
}

void collect_arguments(const command_page& page, std::string& names) {
  for (auto& x : page.options)
    if (!x.argument.empty())
      for (auto& name : x.names)
        if (("|" + names + "|").find("|" + name + "|") == std::string::npos)
          names += (names.empty() ? "" : "|") + name;
  for (auto& x : page.commands)
    collect_arguments(x, names);
}

} // namespace

std::string manual_page(const command_page& program,
                        const std::string& version) {
  std::ostringstream out;
  out << ".TH ALKSTORE 1 \"\" \"alkstore " << version << "\"\n"
      << ".SH NAME\nalkstore \\- " << roff(program.description) << '\n'
      << ".SH SYNOPSIS\n.B " << roff(synopsis(program)) << "\n"
      << ".SH OPTIONS\nThey may stand before or behind the command.\n";
  write_options(out, program);
  out << ".SH COMMANDS\n";
  for (auto& x : program.commands)
    write_command(out, x);
  out << ".SH EXIT STATUS\n";
  for (auto& x : statuses)
    out << ".TP\n.B " << x.number << '\n' << roff(std::string{x.when}) << '\n';
  out << ".SH ENVIRONMENT\n.TP\n.B ALKSTORE_DATABASE\n"
      << "the database where no option names one\n"
      << ".TP\n.B TZ\nthe time zone of the times that are shown\n"
      << ".SH SEE ALSO\n.BR sqlite3 (1)\n";
  return out.str();
}

std::string bash_completion(const command_page& program) {
  std::string arguments;
  collect_arguments(program, arguments);
  std::ostringstream out;
  out << "# Completion of alkstore in bash: made by `alkstore completion`.\n"
      << "_alkstore() {\n"
      << "  local word=${COMP_WORDS[COMP_CWORD]} path=alkstore words= i\n"
      << "  COMPREPLY=()\n"
      << "  case ${COMP_WORDS[COMP_CWORD - 1]} in\n"
      << "    " << arguments << ") return ;; # bash completes a file's name\n"
      << "  esac\n"
      << "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      << "    case \"$path ${COMP_WORDS[i]}\" in\n";
  write_paths(out, program);
  out << "    esac\n  done\n  case $path in\n";
  write_words(out, program);
  out << "  esac\n"
      << "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
      << "}\n"
      << "complete -o default -F _alkstore alkstore\n";
  return out.str();
}

} // namespace alkstore::cli
