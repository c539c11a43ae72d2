// What was measured: gathered, printed, kept in a file, compared with the
// goals.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace alkstore::bench {

/// The values of one quantity, a repetition or an event each.
class samples {
public:
  void add(double x) { values_.push_back(x); }
  bool empty() const noexcept { return values_.empty(); }
  const std::vector<double>& values() const noexcept { return values_; }

  /// The smallest value that a fraction `p` of all does not exceed. Requires a
  /// value.
  double percentile(double p) const;
  double median() const { return percentile(0.5); }
  double min() const { return percentile(0); }
  double max() const { return percentile(1); }

private:
  std::vector<double> values_;
};

/// One row of the results.
struct figure {
  std::string name;
  std::string unit;
  double value = 0;          ///< of the product: the median of the repetitions
  double min = 0;            ///< the repetitions' least
  double max = 0;            ///< and greatest value
  std::optional<double> raw; ///< the same by the raw baseline, or what the
                             ///< value is compared with
  std::optional<double> ratio;   ///< value / raw: the median of the pairs
  std::optional<double> sharing; ///< a rate with CAF's sharing scheduler, as a
                                 ///< part of `value`
  std::string durability = "full";
  std::string note;
};

/// A figure whose value is the median of `product`.
figure figure_of(std::string name, std::string unit, const samples& product);

/// The same beside `raw`, whose repetitions alternated with the product's.
figure compare(std::string name, std::string unit, const samples& product,
               const samples& raw);

/// A number with as many digits as it deserves.
std::string brief(double x);

class report {
public:
  /// Keeps a row and prints it.
  void add(figure x);

  /// Keeps a distribution as "percentile product raw" lines for a plot.
  void add_curve(const std::string& name, const samples& product,
                 const samples& raw);

  /// Prints every goal, met or missed, of the rows that are there. Returns the
  /// names of those missed; with `whole`, of those not measured, too.
  std::vector<std::string> missed_goals(bool whole) const;

  /// Writes the rows as a JSON list, and each curve beside it as <name>.dat.
  /// Throws std::runtime_error if it cannot.
  void write(const std::string& path) const;

private:
  struct curve {
    std::string name;
    std::string lines;
  };
  std::vector<figure> rows_;
  std::vector<curve> curves_;
};

} // namespace alkstore::bench
